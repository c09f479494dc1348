package indexpage

import (
	"net/url"
	"strings"
	"testing"
)

// TestBelow_Rule79: only what is below the folder on the same server counts.
func TestBelow_Rule79(t *testing.T) {
	const pub = "https://example.org/pub/iso/"
	for _, tt := range []struct{ folder, href, want string }{
		{pub, "a.iso", pub + "a.iso"}, {pub, "./a.iso", pub + "a.iso"}, {pub, "/pub/iso/a.iso", pub + "a.iso"},
		{pub, " a.iso\n", pub + "a.iso"},
		{pub, "https://example.org/pub/iso/a", pub + "a"}, {pub, "HTTPS://Example.ORG:443/pub/iso/a",
			"https://Example.ORG:443/pub/iso/a"},
		{pub, "//example.org/pub/iso/a", pub + "a"}, {pub, "a%20b", pub + "a%20b"}, {pub, "a b", pub + "a%20b"},
		{pub, "...", pub + "..."},
		{pub, "ü", pub + "%C3%BC"}, {pub, "sub/a", pub + "sub/a"}, {pub, "../iso/a", pub + "a"},
		{pub, "%61", pub + "%61"}, {pub, "./b:c", pub + "b:c"},
		{pub, "/%70ub/iso/a", "https://example.org/%70ub/iso/a"},
		{pub, "", ""}, {pub, ".", ""}, {pub, "..", ""}, {pub, "../", ""}, {pub, "../a", ""}, {pub, "/a", ""},
		{pub, "/", ""}, {pub, "sub/", ""}, {pub, "sub/../../a", ""},
		{pub, "/pub/isolation", ""}, {pub, "/pub/iso", ""}, {pub, "/PUB/iso/a", ""}, {pub, "/pub/iso//a", ""},
		{pub, "sub//a", ""},
		{pub, "%2e%2e", ""}, {pub, "..%2fa", ""}, {pub, "%2fa", ""}, {pub, "sub%2fa", ""},
		{pub, "sub/%2e%2e/%2e%2e/%2e%2e/a", ""},
		{pub, "a%00", ""}, {pub, "a%0a", ""}, {pub, "a%7f", ""}, {pub, "a%5cb", ""}, {pub, `a\b`, ""},
		{pub, "a\x00", ""}, {pub, "a\nb", ""}, {pub, "%zz", ""},
		{pub, "?C=M;O=D", ""}, {pub, "a?", ""}, {pub, "a?x=1", ""}, {pub, "#a", ""}, {pub, "a#b", ""},
		{pub, "http://example.org/pub/iso/a", ""}, {pub, "http://example.org:443/pub/iso/a", ""},
		{pub, "https://example.org:8443/pub/iso/a", ""}, {pub, "https://example.net/pub/iso/a", ""},
		{pub, "//example.net/pub/iso/a", ""}, {pub, "https://example.org.evil.example/pub/iso/a", ""},
		{pub, "https:///pub/iso/a", ""},
		{pub, "https://me@example.org/pub/iso/a", ""}, {pub, "https://example.org@evil.example/pub/iso/a", ""},
		{pub, "javascript:a", ""}, {pub, "mailto:a@example.org", ""}, {pub, "data:text/plain,a", ""},
		{pub, "https:a", ""}, {pub, "ftp://example.org/pub/iso/a", ""},
		{"https://example.org/", "a", "https://example.org/a"}, {"https://example.org/", "/a/b", "https://example.org/a/b"},
		{"https://example.org/pub", "a", ""}, {"http://example.org:80/", "http://example.org/a", "http://example.org/a"},
		{"https://me:pw@example.org/", "a", "https://example.org/a"}, {"https://me:pw@example.org/",
			"https://me:pw@example.org/a", "https://example.org/a"},
		{"https://me:pw@example.org/", "https://you@example.org/a", ""},
		{"https://example.org/a%2Fb/", "c", "https://example.org/a%2Fb/c"}, {"https://example.org/a%2Fb/", "/a/b/c", ""},
		{"http://[2001:db8::1]:8080/", "a", "http://[2001:db8::1]:8080/a"}, {"http://[2001:db8::1]:8080/",
			"http://[2001:db8::2]:8080/a", ""},
	} {
		folder, err := url.Parse(tt.folder)
		if err != nil {
			t.Fatal(err)
		}
		u, ok := Below(folder, tt.href)
		if got := ""; ok != (tt.want != "") || ok && u.String() != tt.want {
			if ok {
				got = u.String()
			}
			t.Errorf("%q in %s is %q, want %q", tt.href, tt.folder, got, tt.want)
		}
	}
}

func TestFolderOf(t *testing.T) {
	for page, want := range map[string]string{
		"https://example.org": "https://example.org/", "https://example.org/": "https://example.org/",
		"https://example.org/pub/":                 "https://example.org/pub/",
		"https://example.org/pub":                  "https://example.org/",
		"https://example.org/pub/index.html?C=M#x": "https://example.org/pub/",
		"https://example.org/a%2Fb/c":              "https://example.org/a%2Fb/",
		"https://me:pw@example.org/pub/":           "https://me:pw@example.org/pub/",
		"":                                         "", "/pub/": "", "file:///pub/": "", "ftp://example.org/pub/": "",
		"https:///pub/": "", "https:pub/": "", ":": "",
	} {
		got := ""
		if u := folderOf(page); u != nil {
			got = u.String()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", page, got, want)
		}
	}
}

// FuzzBelow compares the answer with that of another way: both URLs written in one way, the file begins with the folder.
func FuzzBelow(f *testing.F) {
	for _, href := range []string{"a.iso", "../a", "//example.org/pub/a", "https://example.org:443/pub/%2e%2e/a",
		"sub/a", "a%2fb", "?x"} {
		f.Add("/pub/", href)
	}
	f.Fuzz(func(t *testing.T, path, href string) {
		folder := folderOf("https://example.org" + path)
		if folder == nil || folder.Host != "example.org" || folder.JoinPath().Path != folder.Path {
			return // JoinPath, which is the other way, would change the folder, too
		}
		u, ok := Below(folder, href)
		if !ok {
			return
		}
		again, err := url.Parse(u.String())
		if err != nil || again.Scheme != "https" || !strings.EqualFold(again.Hostname(), "example.org") ||
			again.Port() != "" && again.Port() != "443" ||
			again.User != nil || again.RawQuery != "" || again.Fragment != "" {
			t.Fatalf("%q in %s: %v, %v", href, folder, u, err)
		}
		clean := again.JoinPath().EscapedPath() // without dots
		home, err := url.PathUnescape(folder.EscapedPath())
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := url.PathUnescape(clean); err != nil || !strings.HasPrefix(plain, home) ||
			len(plain) == len(home) || strings.HasSuffix(plain, "/") {
			t.Errorf("%q in %s: %v", href, folder, u)
		}
	})
}
