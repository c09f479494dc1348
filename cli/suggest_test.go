package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var flagWord = regexp.MustCompile(`(?:^|[ :;])(--?[A-Za-z][A-Za-z-]*[0-9]*)`)

// TestForeignLetters: letters that mean something else elsewhere are refused with a hint, and the flags that
// hints name exist.
func TestForeignLetters(t *testing.T) {
	known := getShapes()
	letters := strings.Fields("-O -C -k -t -T -n -m -Z")
	if len(foreign) != len(letters) {
		t.Errorf("%d letters, want %d", len(foreign), len(letters))
	}
	for _, letter := range letters {
		hint := foreign[letter]
		if hint == "" {
			t.Errorf("%s: no hint", letter)
		}
		named := flagWord.FindAllStringSubmatch(hint, -1)
		if len(named) == 0 {
			t.Errorf("%s: the hint %q names no flag", letter, hint)
		}
		for _, m := range named {
			if _, ok := known[strings.TrimLeft(m[1], "-")]; !ok {
				t.Errorf("%s: the hint names %s, which does not exist", letter, m[1])
			}
		}
		for _, line := range [][]string{{"get", "http://127.0.0.1/a", letter}, {"get", letter, "x", "http://127.0.0.1/a"}, {"get", "-q" + letter[1:], "http://127.0.0.1/a"}} {
			code, out, err := command(t, line...)
			if code != exitUsage || out != "" || !strings.HasPrefix(err, "braid: usage "+letter+": ") || !strings.Contains(err, hint) {
				t.Errorf("%q: exit %d, %q, %q", line, code, out, err)
			}
		}
	}
	for _, k := range kindHints {
		for _, m := range flagWord.FindAllStringSubmatch(k, -1) {
			if _, ok := known[strings.TrimLeft(m[1], "-")]; !ok {
				t.Errorf("the hint %q names %s, which does not exist", k, m[1])
			}
		}
	}
	if !slices.Contains(ignoredByGet, "L") {
		t.Error("-L is not accepted")
	}
}
