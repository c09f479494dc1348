package follow

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"braid/antenna/feed"
)

var tool = Entry{
	Name: "Tool.js", Feed: "https://api.example/releases?per_page=100", URL: "https://h/{tag}/tool_{version}.tgz",
	Dir:     "/srv/tools",
	Require: "digest",
}

func TestTOML(t *testing.T) {
	e := tool
	e.Keys = map[string][]string{"keyring": {"/etc/a.asc", "/etc/b.asc"}, "key": {"RWQ"}, "smime-ca": nil}
	e.Versions, e.PreReleases = ">=2.0 <3", true
	e.More = []Setting{{"name", "a \"b\"\n[watch.x]"}, {"no-lookup", ""}}
	const want = `[feed.tool-js]
url = "https://api.example/releases?per_page=100"

[watch.tool-js]
feeds = ["tool-js"]
url = "https://h/{tag}/tool_{version}.tgz"
dir = "/srv/tools"
require = "digest"
key = ["RWQ"]
keyring = ["/etc/a.asc", "/etc/b.asc"]
versions = ">=2.0 <3"
pre-releases = true
name = "a \"b\"\n[watch.x]"
no-lookup = true
`
	if got := e.TOML(); got != want {
		t.Errorf("TOML:\n%s", got)
	}
}

// TestAddWeaker checks that a watch that demands less than the entry does not count as the same.
func TestAddWeaker(t *testing.T) {
	for _, tt := range []struct {
		has, wants string
		weaker     bool
	}{
		{"require = 'none'", "digest", true}, {"", "digest", false}, {"", "signature", true},
		{"require = 'digest'\nkey = ['k']", "signature", true},
		{"key = ['k']", "signature", false}, {"key = ['k']", "digest", false}, {"require = 'digest'", "none", false},
		{"smime-ca = ['c']", "signature", false}, {"require = 'signature'\nkeyring = ['k']", "signature", false},
	} {
		e := tool
		e.Require = tt.wants
		_, name, err := Add([]byte("[watch.mine]\nurl = '"+e.URL+"'\n"+tt.has), e)
		if weaker, ok := errors.AsType[*WeakerError](err); ok != tt.weaker || name != "mine" || ok && weaker.Watch != "mine" {
			t.Errorf("%q, wanted %s: %s, %v", tt.has, tt.wants, name, err)
		}
	}
}

// TestAdd checks that entries get names of their own, use a feed that is there, and are added once.
func TestAdd(t *testing.T) {
	config := []byte("# mine\n[feed.tool-js]\nurl = \"https://other/\"\n\n\n")
	add := func(e Entry, name string, changes bool) {
		t.Helper()
		before := config
		changed, got, err := Add(config, e)
		if err != nil || got != name || (string(changed) != string(before)) != changes {
			t.Fatalf("Add %s: name %s, %v\n%s", e.URL, got, err, changed)
		}
		if !strings.HasPrefix(string(changed), strings.TrimRight(string(before), "\n")) {
			t.Fatalf("the configuration has changed before its end:\n%s", changed)
		}
		config = changed
	}
	add(tool, "tool-js", true)
	add(tool, "tool-js", false)
	second := tool
	second.URL = "https://h/{tag}/tool_{version}.zip"
	add(second, "tool-js-2", true)
	add(second, "tool-js-2", false)
	third := tool
	third.URL, third.Feed = "https://h/{tag}/x", "https://third/"
	add(third, "tool-js-3", true)
	var have struct {
		Feed  map[string]struct{ URL string }
		Watch map[string]struct{ Feeds []string }
	}
	if _, err := toml.Decode(string(config), &have); err != nil {
		t.Fatal(err)
	}
	if feeds := slices.Sorted(maps.Keys(have.Feed)); !slices.Equal(feeds, []string{"tool-js", "tool-js-2", "tool-js-3"}) {
		t.Errorf("feeds %q", feeds)
	}
	if w := have.Watch["tool-js-2"].Feeds; !slices.Equal(w, []string{"tool-js-2"}) {
		t.Errorf("the second one has the feeds %q", w)
	}
	if _, _, err := Add([]byte("["), tool); err == nil {
		t.Error("a broken configuration is no error")
	}
}

// FuzzEntry checks that an entry has the strings that it was made from, and nothing else.
func FuzzEntry(f *testing.F) {
	f.Add("Tool.js", "https://h/?a=b", "https://h/{tag}", `C:\files`, "a\"b\n[watch.x]")
	f.Add("", "\x7f\u2028", "\\u0041", "'''", "\x00")
	f.Fuzz(func(t *testing.T, name, link, template, dir, key string) {
		for _, s := range []string{link, template, dir, key} {
			if !utf8.ValidString(s) {
				return
			}
		}
		type watch struct {
			Feeds, Key []string
			URL, Dir   string
		}
		var have struct {
			Feed  map[string]struct{ URL string }
			Watch map[string]watch
		}
		e := Entry{Name: name, Feed: link, URL: template, Dir: dir, Keys: map[string][]string{"key": {key}}}
		meta, err := toml.Decode(e.TOML(), &have)
		if err != nil || len(meta.Undecoded()) > 0 || len(have.Feed) != 1 || len(have.Watch) != 1 {
			t.Fatalf("%v, %v\n%s", err, meta.Undecoded(), e.TOML())
		}
		for name, w := range have.Watch {
			if w.URL != template || w.Dir != dir || w.Key[0] != key || have.Feed[name].URL != link || w.Feeds[0] != name {
				t.Fatalf("%q: %+v\n%s", name, w, e.TOML())
			}
		}
	})
}

// FuzzGuess checks that the template of a file gives the URL of that file for its release.
func FuzzGuess(f *testing.F) {
	f.Add("https://h/download/v1.2/t-1.2.tgz", "v1.2")
	f.Add("https://h/a+b/1.2.3-1.2/1.2.tgz?x=1.2", "1.2")
	f.Add("https://h/t-1.22rc1.tgz", "")
	f.Fuzz(func(t *testing.T, link, tag string) {
		page, err := url.Parse(link)
		if err != nil {
			return
		}
		s := Itself(page)
		found, err := s.Find([]feed.Record{{Format: feed.ReleaseAPI, URL: link, Tag: tag}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range found.Assets {
			if key, _ := feed.Key(link); a.URL != key {
				t.Fatalf("%s: %s has the URL %s", link, a.Template, a.URL)
			}
			if r, ok := a.Template.Of(feed.Record{Tag: tag}); tag != "" &&
				(!ok || r.URL != a.URL || r.Version != a.Release.Version) {
				t.Fatalf("%s: %s gives %+v for the tag %s", link, a.Template, r, tag)
			}
		}
	})
}
