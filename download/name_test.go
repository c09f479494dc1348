package download

import (
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Proves rule 10.
func TestSafeName_Rule10(t *testing.T) {
	for _, name := range []string{
		"a", "a.iso", "a b.iso", "ünïcode-漢字", "a..b", "a~", "COM", "COM10", "COMET.txt", "CONsole", "LPTx", "nul-1",
		strings.Repeat("x", maxName),
	} {
		if err := safeName(name); err != nil {
			t.Errorf("%q is refused: %v", name, err)
		}
	}
	for _, name := range []string{
		"", ".", "..", ".hidden", "../x", "a/b", "/a", `a\b`, `C:\a`, "C:a", "~", "~root", "a.", "a ", "a\x00b", "a\nb", "a\x1b[2J", "a\x7f",
		"a\u0085b", "a\u202eb", "a\u2066b", "a\u200fb", "a\u2028b", "a\xffb", "a\ufffdb", "CON", "con", "nul.txt", "Aux.tar.gz", "PRN ", "NUL .txt",
		"COM1", "com9.iso", "LPT3.x", "COM1 .txt", "COM¹", "lpt².a", "CONIN$", "conout$.x", strings.Repeat("x", maxName+1),
	} {
		if safeName(name) == nil {
			t.Errorf("%q is taken", name)
		}
	}
}

// Proves rule 12.
func TestNameFrom_Rule12(t *testing.T) {
	for u, want := range map[string]string{
		"http://h/a.iso": "a.iso", "http://h/d/a%20b?q=/x#/y": "a b", "http://h/%C3%A9": "é", "http://h/d/../a": "a", "http://h/a;v=1": "a;v=1",
		"http://h": "", "http://h/": "", "http://h/d/": "", "http://h/?a": "", "http://h/..": "", "http://h/.": "",
		"http://h/%2e%2e%2f": "", "http://h/%2e%2e%2fa": "", "http://h/a%2fb": "", "http://h/%2e": "", "http://h/a%5cb": "", "http://h/%00": "", "http://h/%ff": "",
	} {
		parsed, err := url.Parse(u)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := nameFrom(parsed); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%s: %q, %v; want %q", u, got, err, want)
		}
	}
}

// What safeName lets pass is one plain name in a folder, whatever it was made of.
func FuzzSafeName(f *testing.F) {
	f.Add("a.iso")
	f.Add("../\u202e")
	f.Fuzz(func(t *testing.T, name string) {
		if safeName(name) != nil {
			return
		}
		bad := name == "" || len(name) > 255 || !utf8.ValidString(name) || name[0] == '.' || strings.ContainsAny(name, `/\`) ||
			strings.ContainsFunc(name, unicode.IsControl) || strings.TrimRight(name, " .") != name
		if bad {
			t.Errorf("%q is taken", name)
		}
	})
}
