package mask

import (
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Proves rule 62.
func TestURL_Rule62(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"http://h/a/b.iso", "http://h/a/b.iso"},
		{"https://user:pass@h:8443/a", "https://user:***@h:8443/a"},
		{"https://token@h/a", "https://***@h/a"},
		{"http://h/a?sig=abc&exp=1;x=2&flag&=v", "http://h/a?sig=***&exp=***&x=***&***&=***"},
		{"http://h/a?", "http://h/a"},
		{"http://h/a#secret", "http://h/a"},
		{"http://h/a%20b%0Ac", "http://h/a%20b%0Ac"},
		{"mailto:someone@h", "mailto:***"},
		{"//u:p@h/x", "//u:***@h/x"},
	} {
		u, err := url.Parse(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		if got := URL(u); got != tt.want {
			t.Errorf("%s is %s, want %s", tt.in, got, tt.want)
		}
		if u.String() != tt.in {
			t.Errorf("the URL itself was changed to %s", u)
		}
	}
	if URL(nil) != "" {
		t.Error("nil has a text")
	}
	long := &url.URL{Scheme: "http", Host: "h", Path: "/" + strings.Repeat("é", 1000)}
	if got := URL(long); len(got) > maxShown+len("...") || !utf8.ValidString(got) {
		t.Errorf("a long URL gives %d bytes", len(got))
	}
}

// What is hidden never shows, and nothing shows that a terminal would obey.
func FuzzURL(f *testing.F) {
	f.Add("user", "hunter2", "sig", "s3cretvalue", "/path")
	f.Add("a b", "p@s:s", "", "x\x1b]0;", "/\u202e")
	f.Fuzz(func(t *testing.T, user, password, name, value, path string) {
		const mark = "\u2713hidden" // in no other part
		u := &url.URL{
			Scheme: "https", Host: "h.example", Path: "/" + path,
			User:     url.UserPassword(user, mark+password),
			RawQuery: url.QueryEscape(name) + "=" + url.QueryEscape(mark+value), Fragment: mark,
		}
		if strings.Contains(user+name+path, "hidden") {
			return
		}
		got := URL(u)
		if strings.Contains(got, "hidden") {
			t.Errorf("%q shows what is hidden", got)
		}
		wantHarmless(t, got)
	})
}

// Proves rule 61: a text of any kind becomes valid, harmless and still tells what it was.
func FuzzEscape(f *testing.F) {
	f.Add("plain text, with é and 漢字")
	f.Add("\x1b[31mred\x1b[0m \u202e\u2066 \xff\xfe \u00a0\u2028 \ufffd\U000e0041")
	f.Fuzz(func(t *testing.T, s string) {
		got := Escape(s)
		wantHarmless(t, got)
		if Escape(got) != got {
			t.Errorf("%q is escaped again, to %q", got, Escape(got))
		}
		printable := func(r rune) bool { return r >= ' ' && r < 0x7f }
		if strings.IndexFunc(s, func(r rune) bool { return !printable(r) }) < 0 && got != s {
			t.Errorf("%q became %q", s, got)
		}
	})
}

func wantHarmless(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Errorf("%q is not valid UTF-8", s)
	}
	for _, r := range s {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			t.Errorf("%q has %U", s, r)
		}
	}
}

// What is escaped says which byte or character it was.
func TestEscapeNames_Rule61(t *testing.T) {
	for in, want := range map[string]string{
		"a\xffb": `a\xffb`, "a\uFFFDb": "a\uFFFDb", "a\x1bb": `a\x1bb`, "a\u202eb": `a\u202eb`, "a\u00a0b": `a\u00a0b`,
		"a\nb": `a\nb`,
	} {
		if got := Escape(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
