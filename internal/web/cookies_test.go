package web

import (
	"errors"
	"net/url"
	"strings"
	"testing"
)

const cookiesFile = "# Netscape HTTP Cookie File\r\n\r\n" +
	".example.org\tTRUE\t/\tFALSE\t0\twide\t1, 2\n" +
	"example.org\tFALSE\t/pub\tTRUE\t99999999999\texact\t\"q\"\n" +
	"#HttpOnly_www.example.org\tFALSE\t/\tFALSE\t0\thidden\tx=y\n" +
	"example.org\tFALSE\t/\tFALSE\t1\tended\tx\n" +
	".org\tTRUE\t/\tFALSE\t0\tsuffix\tx\n" +
	".co.uk\tTRUE\t/\tFALSE\t0\tsuffix\tx\n" +
	"127.0.0.1\tTRUE\t/\tFALSE\t0\taddress\t\n" +
	"example.org\tFALSE\t/\tFALSE\t0\tempty"

// Cookies are sent only to their domain, below their path, over https if they are secure, and until they expire. Proves
// rule 27.
func TestCookieField_Rule27(t *testing.T) {
	jar, err := ParseCookies(cookiesFile)
	if err != nil {
		t.Fatal(err)
	}
	for u, want := range map[string]string{
		"http://example.org/":         "wide=1, 2; empty=",
		"https://example.org/pub/a":   `exact="q"; wide=1, 2; empty=`,
		"http://example.org/pub/a":    "wide=1, 2; empty=",
		"https://example.org/public":  "wide=1, 2; empty=",
		"http://WWW.example.org:81/x": "wide=1, 2; hidden=x=y",
		"http://notexample.org/":      "",
		"http://other.org/":           "",
		"http://a.co.uk/":             "",
		"http://127.0.0.1:8080/":      "address=",
		"ftp://example.org/":          "",
	} {
		parsed, _ := url.Parse(u)
		if got := cookieField(jar, parsed); got != want {
			t.Errorf("%s: %q, want %q", u, got, want)
		}
	}
}

func TestParseCookiesRefuses_Rule62(t *testing.T) {
	for _, line := range []string{
		"a=s3cret; path=/", ".a.b TRUE / FALSE 0 s3cret s3cret", "a.b\tYES\t/\tFALSE\t0\tn\ts3cret",
		"a.b\tTRUE\t/\tFALSE\ts3cret\tn\tv",
		"\tTRUE\t/\tFALSE\t0\tn\ts3cret", "a.b\tTRUE\tx\tFALSE\t0\tn\ts3cret", "a.b\tTRUE\t/\tFALSE\t0\t\ts3cret",
		"a.b\tTRUE\t/\tFALSE\t0\tn\ts3cret\x01",
		"a.b\tTRUE\t/\tFALSE\t0\tn\ts3cret; Domain=x", "a.b\tTRUE\t/\tFALSE\t-1\tn\ts3cret",
	} {
		_, err := ParseCookies("#\n" + line)
		var e *LineError
		if !errors.As(err, &e) || e.Line != 2 || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// FuzzParseCookies: for every file, a field is a single line, and a host receives only its own cookies.
func FuzzParseCookies(f *testing.F) {
	f.Add(cookiesFile)
	f.Add("[::1]\tTRUE\t/\tFALSE\t0\ta\tb")
	f.Fuzz(func(t *testing.T, text string) {
		jar, err := ParseCookies(text)
		if err != nil {
			return
		}
		stranger := &url.URL{Scheme: "https", Host: "stranger.example", Path: "/x"}
		got := cookieField(jar, stranger)
		if strings.ContainsAny(got, "\r\n") || got != "" && !strings.Contains(strings.ToLower(text), "example") {
			t.Fatalf("%q", got)
		}
	})
}
