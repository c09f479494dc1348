package download

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"braid/metalink"
	"braid/source"
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
		"", ".", "..", ".hidden", "../x", "a/b", "/a", `a\b`, `C:\a`, "C:a", "~", "~root", "a.", "a ", "a\x00b", "a\nb",
		"a\x1b[2J", "a\x7f",
		"a\u0085b", "a\u202eb", "a\u2066b", "a\u200fb", "a\u2028b", "a\xffb", "a\ufffdb", "CON", "con", "nul.txt",
		"Aux.tar.gz", "PRN ", "NUL .txt",
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
		"http://h/a.iso": "a.iso", "http://h/d/a%20b?q=/x#/y": "a b", "http://h/%C3%A9": "é", "http://h/d/../a": "a",
		"http://h/a;v=1": "a;v=1",
		"http://h":       "", "http://h/": "", "http://h/d/": "", "http://h/?a": "", "http://h/..": "", "http://h/.": "",
		"http://h/%2e%2e%2f": "", "http://h/%2e%2e%2fa": "", "http://h/a%2fb": "", "http://h/%2e": "",
		"http://h/a%5cb": "", "http://h/%00": "", "http://h/%ff": "",
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

// Any name that safeName accepts is one plain name in a folder.
func FuzzSafeName(f *testing.F) {
	f.Add("a.iso")
	f.Add("../\u202e")
	f.Fuzz(func(t *testing.T, name string) {
		if safeName(name) == nil && !isPlainName(name) {
			t.Errorf("%q is taken", name)
		}
	})
}

// For any Content-Disposition (RFC 6266), the file gets one plain name in its folder, or none. A given name
// that is refused is not replaced by that of the URL.
func FuzzRemoteName(f *testing.F) {
	f.Add(`attachment; filename="a.iso"`)
	f.Add(`attachment; filename="a.iso"; filename*=UTF-8''%e2%82%ac.iso`)
	f.Add(`attachment; filename*0="a"; filename*1*=UTF-8''%2f..%2f; filename=..\b`)
	f.Add(`inline; filename=/etc/passwd`)
	f.Add(`filename="a`)
	f.Fuzz(func(t *testing.T, field string) {
		a := source.Answer{URL: &url.URL{Scheme: "http", Host: "h", Path: "/of the URL"}}
		a.Hops = []metalink.Hop{{Header: map[string][]string{"Content-Disposition": {field}}}}
		name, err := remoteName(a)
		switch {
		case err == nil && !isPlainName(name):
			t.Errorf("%q is taken", name)
		case err != nil && name != "":
			t.Errorf("%q comes with %v", name, err)
		case err == nil && name != "of the URL" && !strings.Contains(strings.ToLower(field), "filename"):
			t.Errorf("%q comes out of nothing", name)
		}
	})
}

// isPlainName judges by other means than safeName: an accepted name leads nowhere else, hides nothing and is
// the same everywhere.
func isPlainName(name string) bool {
	if !filepath.IsLocal(name) || !utf8.ValidString(name) || len(name) > 255 || filepath.Base(name) != name {
		return false
	}
	device, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch strings.TrimRight(device, " ") {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return false
	}
	odd := func(r rune) bool {
		return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 ||
			strings.ContainsRune("/\\:\u061c\u200e\u200f\u2028\u2029\ufffd", r)
	}
	return name[0] != '.' && name[0] != '~' && strings.TrimRight(name, " .") == name && !strings.ContainsFunc(name, odd)
}
