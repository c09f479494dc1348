package release

import (
	"cmp"
	"net/url"
	"strings"
	"testing"

	"braid/antenna/feed"
)

// FuzzOf checks that the URL of a release has the scheme, user, host, port and path of the template up to its first
// field, no matter what a feed says, and that the template finds the same release in it.
func FuzzOf(f *testing.F) {
	f.Add(forge, "v1.2", "https://forge.example/tool/releases/tag/v1.2", "Tool 1.2", int64(1769817600))
	f.Add("https://h/{date}/{major}.{minor}-{version}?q={tag}", "", "https://h/2026-01-31/1.2-1.2?q=v1.2", "", int64(0))
	f.Add("https://u:p@H:8080/%7ea/v{major}.x/a-{version}{patch}.xz#x", "..%2F", "http://m/a-1.2.3.xz", "{tag}", int64(1))
	f.Fuzz(func(t *testing.T, text, tag, link, title string, date int64) {
		x, err := ParseTemplate(text, Patterns{})
		if err != nil {
			return
		}
		y, err := ParseTemplate(text, Patterns{Token: `(?s)^(.*)$`, Version: `^[a-z]*(.*)`})
		if err != nil {
			t.Fatal(err)
		}
		at := feed.Time(date % (1 << 40))
		for _, r := range []feed.Record{
			{Tag: tag, LastModified: at}, {Format: feed.News, URL: link, Title: title, LastModified: at},
			{URL: title, LastModified: at},
			{URL: strings.NewReplacer("{tag}", tag, "{version}", title, "{major}", "1").Replace(text), LastModified: at},
		} {
			for _, z := range []*Template{x, y} {
				if got, ok := z.Of(r); ok {
					checkRelease(t, z, got)
				}
			}
		}
	})
}

func checkRelease(t *testing.T, x *Template, r Release) {
	t.Helper()
	if !isToken(r.Tag) || !isToken(r.Version) {
		t.Fatalf("%s: %+v", x, r)
	}
	literal, _ := feed.Key(x.Literal() + "0")
	want, err := url.Parse(strings.TrimSuffix(literal, "0"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := url.Parse(r.URL)
	if err != nil || got.Scheme != want.Scheme || got.Host != want.Host || got.User.String() != want.User.String() ||
		got.Fragment != "" {
		t.Fatalf("%s: %s, %v", x, r.URL, err)
	}
	if !strings.HasPrefix(r.URL, strings.TrimSuffix(literal, "0")) || strings.Contains(got.Path+"/", "/../") {
		t.Fatalf("%s: %s", x, r.URL)
	}
	if key, ok := feed.Key(r.URL); !ok || key != r.URL {
		t.Fatalf("%s: %s, and its key is %s", x, r.URL, key)
	}
	if strings.Count(r.URL, "/")+strings.Count(r.URL, "&") > strings.Count(x.text, "/")+strings.Count(x.text, "&")+1 {
		t.Fatalf("%s: %s", x, r.URL) // one more for a URL without a path
	}
	if again, ok := x.FileOf(r.URL); (!ok || again.URL != r.URL) && x.has(tagField, versionField) {
		t.Fatalf("%s: FileOf(%s) = %+v, %v", x, r.URL, again, ok)
	}
}

// FuzzCompare checks that Compare is a total preorder, and that Newer returns nothing that is not newer.
func FuzzCompare(f *testing.F) {
	f.Add("1.0.0-rc10", "1.0.0-rc9", "1.0.0-rc9_")
	f.Add("1.0", "1.0.0+x", "1.0~rc1")
	f.Add("1.a", "1", "1.~")
	f.Add("v1.22rc1", "1.22.b2", "01.22-rc.1")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		words := []string{a, b, c}
		for _, x := range words {
			if Compare(x, x) != 0 {
				t.Fatalf("%q differs from itself", x)
			}
			for _, y := range words {
				if cmp.Compare(Compare(x, y), 0) != -cmp.Compare(Compare(y, x), 0) {
					t.Fatalf("%q and %q are not antisymmetric", x, y)
				}
				if o := byName; cmp.Compare(o.compare(read(x), read(y)), 0) != -cmp.Compare(o.compare(read(y), read(x)), 0) {
					t.Fatalf("names: %q and %q are not antisymmetric", x, y)
				}
				for _, z := range words {
					if Compare(x, y) <= 0 && Compare(y, z) <= 0 && Compare(x, z) > 0 {
						t.Fatalf("%q <= %q <= %q, and Compare(%q, %q) > 0", x, y, z, x, z)
					}
				}
			}
		}
		checkNewer(t, words, a)
		checkNewer(t, words, "")
	})
}

func checkNewer(t *testing.T, words []string, current string) {
	t.Helper()
	var list []Release
	for _, w := range words {
		list = append(list, Release{Version: w, URL: w})
	}
	newer, rest := Choice{PreReleases: true}.Newer(list, current)
	if len(newer)+len(rest) > len(list) {
		t.Fatalf("%q: %d newer, %d unparsed", words, len(newer), len(rest))
	}
	for _, r := range newer {
		if current != "" && Compare(r.Version, current) <= 0 {
			t.Fatalf("%q: %q is not newer than %q", words, r.Version, current)
		}
	}
}
