package serve

import (
	"net/url"
	"reflect"
	"strings"
	"testing"

	"braid/linkheader"
)

func TestParseMirror(t *testing.T) {
	for spec, want := range map[string]Mirror{
		"http://h/base/;pri=1;geo=de;depth=2;pref": {URL: mustURL(t, "http://h/base/"), Pri: 1, Geo: "de",
			Depth: 2, Pref: true},
		" https://h:8443/ ; PREF ; Geo = FR ; pri = 12": {URL: mustURL(t, "https://h:8443/"), Pri: 12, Geo: "fr", Pref: true},
		"http://h":                             {URL: mustURL(t, "http://h/")},
		"ftp://h/pub/x.iso;depth=0;pri=999999": {URL: mustURL(t, "ftp://h/pub/x.iso"), Pri: 999999},
		"HTTP://[::1]:80/":                     {URL: mustURL(t, "http://[::1]:80/")},
		"http://h/a%3Bb/,<>/":                  {URL: mustURL(t, "http://h/a%3Bb/%2C%3C%3E/")},
	} {
		got, err := ParseMirror(spec)
		if err != nil || plainURL(got.URL) != want.URL.String() {
			t.Errorf("%q: %v, %v, want %v", spec, got, err, want)
			continue
		}
		got.URL, want.URL = nil, nil
		if got != want {
			t.Errorf("%q: %+v, want %+v", spec, got, want)
		}
	}
}

func TestParseMirrorRefuses(t *testing.T) {
	for spec, want := range map[string]string{
		"":                         "scheme is \"\"",
		"/base/":                   "scheme is \"\"",
		"h/base/":                  "scheme is \"\"",
		"file:///etc/":             "scheme is \"file\"",
		"rsync://h/":               "scheme is \"rsync\"",
		"http:h":                   "no host",
		"http:///x/":               "no host",
		"http://:80/":              "no host",
		"http://h\"x/":             "not plain ASCII",
		"http://a>b/":              "not plain ASCII",
		"http://a,b/":              "not plain ASCII",
		"http://exämple.org/":      "not plain ASCII",
		"http://[fe80::1%25eth0]/": "not plain ASCII",
		"http://h:x/":              "not a URL",
		"http://h/%zz":             "not a URL",
		"http://h/\n":              "", // surrounded by white space
		"http://h/\x01/":           "not a URL",
		"http://u:hunter2@h/":      "user name",
		"http://h/?x":              "query",
		"http://h/?":               "query",
		"http://h/#x":              "fragment",
		"http://h/;":               "unknown attribute \"\"",
		"http://h/;pri":            "pri is \"\"",
		"http://h/;pri=0":          "pri is \"0\"",
		"http://h/;pri=-1":         "pri is \"-1\"",
		"http://h/;pri=1000000":    "pri is 1000000",
		"http://h/;pri=1;pri=1":    "twice",
		"http://h/;geo=":           "geo is empty",
		"http://h/;geo=deu":        "geo is \"deu\"",
		"http://h/;geo=d1":         "geo is \"d1\"",
		"http://h/;depth=x":        "depth is \"x\"",
		"http://h/;depth=1001":     "depth is 1001",
		"http://h/;pref=1":         "unknown attribute \"pref\"",
		"http://h/;\x1b[2J=x":      `unknown attribute "\x1b[2j"`,
		"http://h/" + strings.Repeat("x", maxURL) + "/": "longer",
	} {
		m, err := ParseMirror(spec)
		switch {
		case want == "" && err == nil:
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%q: %v, %v, want an error with %q", clip(spec), m, err, want)
		case !reflect.ValueOf(m).IsZero():
			t.Errorf("%q: %v and an error", clip(spec), m)
		}
	}
}

// Errors do not contain the password (rule 62).
func TestParseMirrorKeepsSecrets_Rule62(t *testing.T) {
	for _, spec := range []string{
		"http://u:hunter2@h/", "http://u:hunter2@h:x/", "http://u:hunter2%zz@h/", "http://u:hunter2 @h/",
		"u:hunter2@h/", "http://u:hunter2@h/;pri=0", "http://h/?key=hunter2", "foo://u:hunter2@h/", "http://h:hunter2/",
	} {
		if _, err := ParseMirror(spec); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: error is %v", spec, err)
		}
	}
}

func TestParseMirrors(t *testing.T) {
	got, err := ParseMirrors(strings.NewReader("# all\r\n\r\n  http://a/;pri=2\r\n\t# http://no/\nhttps://b/pub/"))
	if err != nil || len(got) != 2 || got[0].String() != "http://a/;pri=2" || got[1].String() != "https://b/pub/" {
		t.Errorf("mirrors are %v, %v", got, err)
	}
	for text, want := range map[string]string{
		"# one\n\nhttp://a/\nhttp://b/;x\n":                 "line 4: mirror: unknown attribute",
		"http://a/\n" + strings.Repeat("x", 100<<10) + "\n": "line 2: ",
	} {
		if got, err := ParseMirrors(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) || got != nil {
			t.Errorf("mirrors are %v, error %v, want %q", got, err, want)
		}
	}
	if got, err := ParseMirrors(strings.NewReader("")); err != nil || got != nil {
		t.Errorf("of nothing: %v, %v", got, err)
	}
}

// FuzzParseMirror: a mirror that is written parses to the same mirror, and its link is a single link, which a client
// parses as intended.
func FuzzParseMirror(f *testing.F) {
	for _, s := range []string{
		"http://h/base/;pri=1;geo=de;depth=2;pref", "ftp://h;pref", "https://[::1]:1/x", "http://a>b/",
		"http://h/a,b;c", "http://h/%3E/",
		"http://h/%2F", "http://h/..//", "http://h/\u00e4\xff/", "HTTP://H/;PRI=7", "http://h/a=b/;geo=XX",
		"http://h/'\"<>\\^`{|}/",
	} {
		f.Add(s, "dir/name, <x>;.iso")
	}
	f.Fuzz(func(t *testing.T, spec, name string) {
		m, err := ParseMirror(spec)
		if err != nil {
			return
		}
		again, err := ParseMirror(m.String())
		if err != nil || again.String() != m.String() || again.Pri != m.Pri || again.Geo != m.Geo ||
			again.Depth != m.Depth || again.Pref != m.Pref {
			t.Fatalf("%q is %v, and written again %v, %v", spec, m, again, err)
		}
		target, _ := m.target(name)
		line := newLink(target, linkheader.Duplicate, m.params()...).String()
		links, problems := linkheader.Parse([]string{line})
		if len(links) != 1 || len(problems) > 0 || links[0].Target != target || !links[0].Rel(linkheader.Duplicate) {
			t.Fatalf("%q gives the line %q, read as %v, %v", spec, line, links, problems)
		}
		l := links[0]
		if l.Pref() != m.Pref || l.Depth() != m.Depth || l.Geo() != strings.ToUpper(m.Geo) || m.Pri != 0 && l.Pri() != m.Pri {
			t.Errorf("%+v is read as %v", m, l)
		}
		if u, err := url.Parse(target); err != nil || u.Host != m.URL.Host || !strings.HasPrefix(u.Path, m.URL.Path) {
			t.Errorf("%q of %q is at %q, %v", name, spec, target, err)
		}
	})
}
