package job

import (
	"strings"
	"testing"
)

// Proves rule 62 for words that are no URL.
func TestMaskWord_Rule62(t *testing.T) {
	for word, want := range map[string]string{
		"http://me:pw@h/a?t=secret":   "http://me:***@h/a?t=***",
		"http://me:pw@h:x/a?t=secret": "***@h:x/a?***",
		"a\x1b[31m":                   `***`,
		"example.org/a":               "example.org/a",
	} {
		got := MaskWord(word)
		if strings.Contains(got, "secret") || strings.Contains(got, "pw") || strings.Contains(got, "\x1b") {
			t.Errorf("%q is shown as %q", word, got)
		}
		if want != "***" && got != want {
			t.Errorf("%q is shown as %q, want %q", word, got, want)
		}
	}
}
