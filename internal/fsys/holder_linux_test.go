package fsys

import (
	"strings"
	"testing"
)

func TestFindHolder_Rule9(t *testing.T) {
	locks := `1: POSIX  ADVISORY  WRITE 11 fe:00:131 0 EOF
2: FLOCK  ADVISORY  WRITE 22 fe:01:131 0 EOF
3: FLOCK  ADVISORY  WRITE 33 fe:00:131 0 EOF
3: -> FLOCK  ADVISORY  WRITE 44 fe:00:131 0 EOF
4: FLOCK  ADVISORY
5: FLOCK  ADVISORY  WRITE -1 fe:00:132 0 EOF
6: FLOCK  ADVISORY  WRITE x fe:00:133 0 EOF
`
	for file, want := range map[string]int{
		"fe:00:131": 33, "fe:01:131": 22, "fe:00:132": 0, "fe:00:133": 0, "fe:00:134": 0, "fe:00:13": 0, "ff:00:131": 22,
	} {
		got, sure := findHolder(strings.NewReader(locks), file)
		if got != want {
			t.Errorf("%s: process %d, want %d", file, got, want)
		}
		// On another device, the lock may belong to a different file.
		if device := strings.HasPrefix(file, "fe:0"); sure != (device && want > 0) {
			t.Errorf("%s: sure: %v", file, sure)
		}
	}
}
