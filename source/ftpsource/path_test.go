package ftpsource

import (
	"net/url"
	"strings"
	"testing"

	"braid/internal/test/ftptest"
	"braid/internal/test/sourcetest"
	"braid/source"
)

func TestPath(t *testing.T) {
	for in, want := range map[string]string{
		"ftp://h/a":                  "a",
		"ftp://h/pub/a%20b.iso":      "pub/a b.iso",
		"ftp://h/%2Fetc/motd":        "/etc/motd",
		"ftp://h//etc/motd":          "/etc/motd",
		"ftp://h/a%2Fb/c":            "a/b/c",
		"ftps://u:p@h:990/a":         "a",
		"ftp://h/a;type=i":           "a",
		"ftp://h/a;TYPE=I":           "a",
		"ftp://h/a;b":                "a;b",
		"ftp://h/;type=a/b":          ";type=a/b",
		"ftp://h/a;type=i;x":         "a;type=i;x",
		"ftp://h/a%3Ftype%3Di":       "a?type=i",
		"ftp://h/%E6%BC%A2%E5%AD%97": "漢字",
		"ftp://h/a#b":                "a",
		"ftp://h/..%2F../x":          "../../x",
	} {
		if got, err := pathOf(sourcetest.URL(t, in)); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", in, got, err, want)
		}
	}
}

// TestRefusedURLs_Rule58 checks that a URL that would end a command early is refused without a connection (rule 58).
func TestRefusedURLs_Rule58(t *testing.T) {
	for _, in := range []string{
		"ftp://h/a%0D%0ADELE%20b", "ftp://h/a%0Ab", "ftp://h/a%0D", "ftp://h/a%00b", "ftp://h/%0A",
		"ftp://a%0Ab@h/x", "ftp://a:b%0Dc@h/x", "ftp://h/", "ftp://h", "ftp:///a", "ftp:a", "http://h/a",
		"ftp://h/a;type=a", "ftp://h/a;type=d", "ftp://h/a?b", "ftp://h/a?",
	} {
		if err := Check(sourcetest.URL(t, in)); err == nil {
			t.Errorf("%s is let through", in)
		}
	}
	s := newServer(t)
	for _, bad := range []string{s.URL + "%0D%0ADELE%20x", s.URL + ";type=a"} {
		_, err := fetch(t, newClient(t), bad, Options{}, whole)
		sourcetest.Fault(t, err, source.FaultRefused, false)
	}
	_, err := fetch(t, newClient(t), s.URL, Options{User: url.UserPassword("a", "b\r\nDELE x")}, whole)
	sourcetest.Fault(t, err, source.FaultRefused, false)
	if s.Connections() != 0 {
		t.Errorf("%d connections for URLs that make no sense", s.Connections())
	}
}

func TestPathIsSentWhole(t *testing.T) {
	s := newServer(t, ftptest.Name("pub/a b/ü;x.bin"))
	mustFetch(t, newClient(t), s.URL, Options{}, part(3, 9))
	if s.Asked("CWD") != 0 || s.Asked("SIZE pub/a b/ü;x.bin") != 1 {
		t.Errorf("commands are %q", s.Commands())
	}
}

// FuzzPath checks that no URL results in a command of two lines.
func FuzzPath(f *testing.F) {
	f.Add("ftp://u:p@h/a%0Ab;type=i")
	f.Add("ftp://h/%2F..;TYPE=A#x")
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := url.Parse(raw)
		if err != nil {
			return
		}
		path, err := pathOf(u)
		if (err == nil) != (Check(u) == nil) {
			t.Error("Check and pathOf differ")
		}
		if err == nil && (path == "" || strings.ContainsAny(path, "\r\n\x00")) {
			t.Errorf("%q: path %q", raw, path)
		}
		before, kind := CutType(u.EscapedPath())
		if !strings.HasPrefix(u.EscapedPath(), before) || !strings.HasSuffix(u.EscapedPath(), kind) {
			t.Errorf("%q: %q, %q", raw, before, kind)
		}
	})
}
