package e2e

import (
	"os"
	"strings"
	"testing"
)

// Each line that builds, for readers and in scripts, does without a C compiler: with one, Go compiles a library for minutes that is
// not used. Only the race detector needs it.
func TestBuildsWithoutC(t *testing.T) {
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "doc/tour.md", "scripts/test", "scripts/tour", "scripts/bench", "scripts/demo"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		builds, off := 0, false
		for line := range strings.Lines(string(data)) {
			off = off || strings.Contains(line, "export CGO_ENABLED=0")
			own := strings.Contains(line, "CGO_ENABLED=0")
			switch {
			case strings.Contains(line, "go build"):
				if builds++; !off && !own {
					t.Errorf("%s: builds with C: %s", name, line)
				}
			case strings.Contains(line, "go test -race") && !strings.Contains(line, "CGO_ENABLED=1") && off:
				t.Errorf("%s: the race detector needs C: %s", name, line)
			}
		}
		if builds == 0 {
			t.Errorf("%s builds nothing", name)
		}
	}
}
