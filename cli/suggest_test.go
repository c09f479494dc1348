package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"out", "overwrite", "max-size", "quiet", "timeout", "connect-timeout", "tries", "sha256"}
	for word, want := range map[string]string{
		"output": "out", "outt": "out", "ouptut": "", "oevrwrite": "overwrite", "maxsize": "max-size", "quite": "quiet",
		"sha-256": "sha256", "sha": "sha256", "timeuot": "timeout", "bogus": "", "": "", "x": "",
	} {
		if got := nearest(word, known); got != want {
			t.Errorf("nearest(%q) is %q, want %q", word, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"get", "get", 0}, {"get", "gte", 1}, {"probe", "prob", 1},
		{"serve", "server", 1}, {"kitten", "sitting", 3}, {"abcd", "badc", 2},
	} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) is %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := distance(tt.b, tt.a); got != tt.want {
			t.Errorf("distance(%q, %q) is %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}

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
