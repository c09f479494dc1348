package option

import (
	"errors"
	"net/url"
	"reflect"
	"strings"
	"testing"
)

var knownHere = known{
	"get":   {"limit-rate": Rate, "quiet": Switch, "mirror": Words, "tries": Word, "out": Word},
	"probe": {"json": Switch, "tries": Word},
}

const example = `# for all
limit-rate = "20M"
tries = 5
mirror = ["http://a/", "http://b/"]
json = true

[get]
tries = 7
quiet = false
mirror = "http://c/"

[site."https://Example.org/pub/*"]
keyring = ["a.asc", "b.asc"]
require = "signature"
header = "X-A: b"

[site."https://example.org"]
proxy = "socks5://127.0.0.1:1080"
limit-rate = 1024
cacert = "ca.pem"
insecure = true

[site."https://example.org/pub/exact"]
pin = "abc"
allow-expired-key = true

[site."http://[::1]:8080/*"]
`

func mustParse(t *testing.T, text string) *Settings {
	t.Helper()
	f, err := parseSettings([]byte(text), knownHere)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestValue(t *testing.T) {
	f := mustParse(t, example)
	for _, tt := range []struct {
		command, flag string
		want          Value
	}{
		{"get", "limit-rate", Value{[]string{"20M"}, 2}}, {"get", "tries", Value{[]string{"7"}, 8}},
		{"probe", "tries", Value{[]string{"5"}, 3}},
		{"get", "quiet", Value{[]string{"false"}, 9}}, {"get", "mirror", Value{[]string{"http://c/"}, 10}},
		{"other", "mirror", Value{[]string{"http://a/", "http://b/"}, 4}}, {"probe", "json", Value{[]string{"true"}, 5}},
	} {
		if got, ok := f.Value(tt.command, tt.flag); !ok || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s --%s: %+v, %v", tt.command, tt.flag, got, ok)
		}
	}
	if _, ok := f.Value("get", "out"); ok {
		t.Error("a value for what the file does not name")
	}
	if _, ok := (*Settings)(nil).Value("get", "out"); ok {
		t.Error("no file says something")
	}
}

func TestSite(t *testing.T) {
	f := mustParse(t, example)
	for u, want := range map[string]string{
		"https://example.org/":            "https://example.org",
		"https://EXAMPLE.org.:443":        "https://example.org",
		"https://example.org/public":      "https://example.org",
		"https://example.org/pub/a/b?x":   "https://Example.org/pub/*",
		"https://example.org/pub/exact":   "https://example.org/pub/exact",
		"https://example.org/pub/exact/a": "https://Example.org/pub/*",
		"https://example.org:8443/pub/a":  "",
		"http://example.org/pub/a":        "",
		"https://sub.example.org/pub/a":   "",
		"http://[::1]:8080/x":             "http://[::1]:8080/*",
	} {
		parsed, _ := url.Parse(u)
		got := ""
		if s := f.Site(parsed); s != nil {
			got = s.Pattern
		}
		if got != want {
			t.Errorf("%s: %q, want %q", u, got, want)
		}
	}
	u, _ := url.Parse("https://example.org/pub/a")
	want := map[string][]string{"keyring": {"a.asc", "b.asc"}, "require": {"signature"}, "header": {"X-A: b"}}
	if s := f.Site(u); s.Line != 12 || !reflect.DeepEqual(s.Values, want) || s.HostPort() != "example.org:443" {
		t.Errorf("%+v", s)
	}
	u.Path = "/x"
	if s := f.Site(u); s.Word("proxy") != "socks5://127.0.0.1:1080" || s.Word("limit-rate") != "1024" ||
		s.Word("insecure") != "true" || len(s.Values["cacert"]) != 1 {
		t.Errorf("%+v", s)
	}
	if (*Settings)(nil).Site(u) != nil {
		t.Error("no file says something")
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct {
		text string
		line int
		want string
		hint string
	}{
		{"\nlimit-rat = 1", 2, "limit-rat: unknown key", "did you mean limit-rate?"},
		{"[gett]\nquiet = true", 1, "gett: unknown key", "did you mean get?"},
		{"[get]\njson = true", 2, "get.json: unknown key", ""},
		{"[site.\"https://h/*\"]\n\nkeyrings = 1", 3, `keyrings: unknown key`, "did you mean keyring?"},
		{"quiet = 1", 1, "quiet: a number is given where true or false is expected", ""},
		{"quiet = \"yes\"", 1, "quiet: a string is given where true or false is expected", ""},
		{"limit-rate = true", 1, "limit-rate: a boolean is given where a string is expected", ""},
		{"limit-rate = [\"1\"]", 1, "limit-rate: a list is given where a string is expected", ""},
		{"mirror = [[\"x\"]]", 1, "mirror: a table or a date is given where a string or a list of strings is expected", ""},
		{"mirror = 2024-01-01", 1, "mirror: a table or a date is given where a string or a list of strings is expected", ""},
		{"out = \"\"", 1, "out: the value is empty", "leave the key out"},
		{"[get.limit-rate]\nx = 1", 1, "get.limit-rate: a table or a date is given where a string is expected", ""},
		{"site = 1", 1, "site: want a table", "[site]"},
		{"get = 1", 1, "get: want a table", "[get]"},
		{"[site]\nx = 1", 2, "site.x: want a table", "[site."},
		{"[site.\"example.org/*\"]", 1, "not the beginning of a URL", "write a scheme"},
		{"[site.\"https://*.example.org/\"]", 1, "not the beginning of a URL", ""},
		{"[site.\"https://h/a/*\"]\n[site.\"https://H:443/a/\"]", 1, "is for the same URLs as https://H:443/a/",
			"remove one of the two, which would be ignored"},
		{"[site.\"https://h/a*b*\"]", 1, "not the beginning of a URL", ""},
		{"forge = 1", 1, "forge: want a table", "[forge]"},
		{"[forge]\nx = 1", 2, "forge.x: want a table", "[forge.NAME]"},
		{"[forge.x]\n\nlik = \"Forgejo\"", 3, "forge.x.lik: unknown key", "did you mean like?"},
		{"[forge.x]\nlines = \"yes\"", 2, "forge.x.lines: a string is given where true or false is expected", ""},
		{"quiet = true\nquiet = false", 2, "", ""},
		{"quiet", 1, "", ""},
		{"quiet = true\n[get\nout = \"x\"", 2, "end table name", ""},
		{"quiet = true\nout = \"x\nproxy = \"y\"", 2, "newlines", ""},
	} {
		_, err := parseSettings([]byte(tt.text), knownHere)
		var e *Error
		if !errors.As(err, &e) || e.Line != tt.line || !strings.Contains(err.Error(), tt.want) ||
			!strings.HasPrefix(e.Hint, tt.hint) {
			t.Errorf("%q: %+v", tt.text, err)
		}
	}
}

// FuzzParse: values have the declared kinds, and the URL of every site matches the site.
func FuzzParse(f *testing.F) {
	f.Add(example)
	f.Add("[site.\"http://h\"]\n[get]\nquiet=true")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := parseSettings([]byte(text), knownHere)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Why == "" {
				t.Fatal(err)
			}
			return
		}
		for command, flags := range knownHere {
			for name, kind := range flags {
				v, ok := file.Value(command, name)
				if ok && (kind != Words && len(v.Words) != 1 || v.Line < 1 ||
					kind == Switch && v.Words[0] != "true" && v.Words[0] != "false") {
					t.Fatalf("%s.%s is %+v", command, name, v)
				}
			}
		}
		for _, s := range file.Sites {
			u := &url.URL{Scheme: s.scheme, Host: s.HostPort(), Path: s.path}
			if got := file.Site(u); got == nil || len(got.path) < len(s.path) {
				t.Fatalf("%q has not %s", s.Pattern, u)
			}
		}
	})
}

// TestSiteOfAFolder: a pattern that ends with a slash matches what is in the folder. As the URL of a file it would
// match nothing, and a keyring would have no effect.
func TestSiteOfAFolder(t *testing.T) {
	f := mustParse(t, "[site.\"https://example.org/pub/\"]\nrequire = \"digest\"\n")
	for u, want := range map[string]bool{"https://example.org/pub/a/b": true, "https://example.org/pub/": true,
		"https://example.org/public": false} {
		parsed, _ := url.Parse(u)
		if got := f.Site(parsed) != nil; got != want {
			t.Errorf("%s: %t", u, got)
		}
	}
}

// TestForges: rows are sorted by name, with their lines; a list may be a word.
func TestForges(t *testing.T) {
	f := mustParse(t, "forge.b.like = \"Forgejo\"\n[forge.a]\nurl = \"^https://h/$\"\nat = [\"x\", \"y\"]\nlines = true\n")
	if len(f.Forges) != 2 || f.Forges[0].Name != "a" || f.Forges[0].Line != 2 || f.Forges[1].Line != 1 {
		t.Fatalf("%+v", f.Forges)
	}
	v := f.Forges[0].Values
	if len(v) != 3 || v["url"][0] != "^https://h/$" || len(v["at"]) != 2 || v["lines"][0] != "true" {
		t.Errorf("%v", v)
	}
}
