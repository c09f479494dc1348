package formats

import (
	"slices"
	"strings"
	"testing"

	"braid/antenna/feed"
)

// Numbers, words, media types, beginnings and files belong to one format, and numbers are what stores have.
func TestTable(t *testing.T) {
	seen := map[string]bool{"own": true, "auto": true, "page": true}
	once := func(f *feed.Format, what string, words ...string) {
		for _, word := range words {
			if word == "" || seen[what+word] || seen[word] && what == "word " {
				t.Errorf("%s: the %s%q is there twice, or empty", f.Name, what, word)
			}
			seen[what+word] = true
		}
	}
	ids := map[feed.FormatID]bool{feed.Own: true}
	for _, f := range All() {
		if ids[f.ID] || f.ID < 0 || f.Decode == nil {
			t.Errorf("%s: has the number %d, or is not read", f.Name, f.ID)
		}
		ids[f.ID] = true
		once(f, "word ", append(slices.Clone(f.Also), f.Name)...)
		once(f, "beginning ", f.Begins...)
		once(f, "element ", f.Elements...)
		for _, set := range f.Members {
			once(f, "members ", strings.Join(set, " "))
		}
		for _, m := range f.Types {
			once(f, "type ", m.Type)
		}
		if slices.ContainsFunc(append(f.Begins, f.Elements...), func(s string) bool { return s != strings.ToLower(s) }) {
			t.Errorf("%s: what it begins with is compared in lower case", f.Name)
		}
		if w := f.Writing; w != nil {
			once(f, "written ", w.Name)
			once(f, "file ", w.File)
			if w.Check == nil || w.Encode == nil || w.Mark == "" {
				t.Errorf("%s: cannot be written", f.Name)
			}
		}
	}
}

func TestName(t *testing.T) {
	for id, want := range map[feed.FormatID]string{
		feed.Own: "own", feed.HinaDI: "hina-di", feed.LIRS: "lirs", feed.SOIF: "soif", feed.News: "news", feed.Sitemap: "sitemap",
		feed.IndexPage: "index", feed.ReleaseAPI: "releases",
		-1: "format -1", 99: "format 99",
	} {
		if got := Name(id); got != want {
			t.Errorf("%d is %s, want %s", id, got, want)
		}
	}
}
