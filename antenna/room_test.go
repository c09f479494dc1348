package antenna

import (
	"fmt"
	"slices"
	"testing"

	"braid/antenna/feed"
	"braid/antenna/release"
)

// TestReleasesNewestIsKept checks that the newest versions are kept, wherever they are in a feed that lists more than are
// kept. The names on an index page are sorted as text.
func TestReleasesNewestIsKept(t *testing.T) {
	const all = 2*maxGlobbed + 100
	var names []string
	for i := range all {
		names = append(names, fmt.Sprintf("https://h.example/tool-1.%d.tar.gz", i))
	}
	falling := slices.Clone(names)
	slices.Reverse(falling)
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	for order, list := range map[string][]string{"rising": names, "falling": falling, "as text": sorted} {
		w, err := newWatcher(Watch{Name: "tool", URL: "https://h.example/tool-{version}.tar.gz", Releases: &Releases{
			Template: templateOf(t, "https://h.example/tool-{version}.tar.gz")}})
		if err != nil {
			t.Fatal(err)
		}
		c := newCollector(&Feed{Name: "f", Limits: Limits{}.orDefault()}, newMatcher([]*watcher{w}), 1e9)
		k, err := c.collect(func(yield func(feed.Record, error) bool) {
			for _, name := range list {
				yield(feed.Record{URL: name, Format: feed.IndexPage}, nil)
			}
		})
		if err != nil || len(k.matches) > maxGlobbed || len(k.tooMany) > 0 {
			t.Errorf("%s: %d matches, too many of %q, %v", order, len(k.matches), k.tooMany, err)
		}
		w.follow.hear(&member{}, releasesIn(k.matches)[w.follow], false)
		if got, want := w.follow.summary().Newest, fmt.Sprintf("1.%d", all-1); got != want {
			t.Errorf("%s: the newest is %s, want %s", order, got, want)
		}
		kept := map[string]bool{}
		for _, m := range k.matches {
			kept[m.url] = true
		}
		for _, name := range names[all-maxGlobbed/2:] {
			if !kept[name] {
				t.Fatalf("%s: %s is not kept", order, name)
			}
		}
	}
}

// TestReleasesNewestOfOrderIsKept_Rule80 checks that the newest version is kept even if the version in place is not
// semantic and most others are.
func TestReleasesNewestOfOrderIsKept_Rule80(t *testing.T) {
	w, err := newWatcher(Watch{Name: "tool", URL: "https://h.example/tool-{version}.tar.gz", Releases: &Releases{
		Template: templateOf(t, "https://h.example/tool-{version}.tar.gz")}})
	if err != nil {
		t.Fatal(err)
	}
	c := newCollector(&Feed{Name: "f", Limits: Limits{}.orDefault()}, newMatcher([]*watcher{w}), 1e9)
	k, err := c.collect(func(yield func(feed.Record, error) bool) {
		yield(feed.Record{URL: "https://h.example/tool-r2026x.tar.gz", Format: feed.IndexPage}, nil)
		for i := range maxGlobbed {
			yield(feed.Record{URL: fmt.Sprintf("https://h.example/tool-1.%d.tar.gz", i), Format: feed.IndexPage}, nil)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []release.Release
	for _, r := range releasesIn(k.matches)[w.follow] {
		all = append(all, r.release)
	}
	if newer, _ := w.Releases.Choice.Newer(all, "r2026s"); len(newer) == 0 || newer[0].Version != "r2026x" {
		t.Errorf("after r2026s comes %+.1v of %d", newer, len(all))
	}
}

// TestReleasesOwnFileIsKept_Rule81 checks that the record of the file of a release is kept, wherever it is among those of its
// other files, also if these are newer. It alone has the digest of the file.
func TestReleasesOwnFileIsKept_Rule81(t *testing.T) {
	const url, own, all = "https://h.example/{tag}/tool-{version}-own.tar.gz",
		"https://h.example/v1.0/tool-1.0-own.tar.gz", 4 * maxReports
	for place := range all {
		w, err := newWatcher(Watch{Name: "tool", URL: url, Releases: &Releases{Template: templateOf(t, url)}})
		if err != nil {
			t.Fatal(err)
		}
		c := newCollector(&Feed{Name: "f", Limits: Limits{}.orDefault()}, newMatcher([]*watcher{w}), 1e9)
		k, err := c.collect(func(yield func(feed.Record, error) bool) {
			for i := range all {
				r := feed.Record{URL: fmt.Sprintf("https://h.example/v1.0/tool-1.0-%d.tar.gz", i),
					LastModified: feed.Time(8e8 + i)}
				if i == place {
					r.URL, r.LastModified = own, 7e8
				}
				r.Format, r.Tag, r.Fields = feed.ReleaseAPI, "v1.0",
					[]feed.Field{{Name: feed.DigestField, Value: "sha256:" + r.URL}}
				yield(r, nil)
			}
		})
		if err != nil || len(k.matches) != maxReports {
			t.Fatalf("%d matches, %v", len(k.matches), err)
		}
		w.follow.hear(&member{}, releasesIn(k.matches)[w.follow], false)
		records, _ := w.follow.offers()[own].about()
		if digests, _ := records[0].Proof(); len(records) != 1 || !slices.Equal(digests, []string{"sha256:" + own}) {
			t.Errorf("at place %d: %d records, with %q", place, len(records), digests)
		}
	}
}

// TestReleasesOfCutFeed checks that a feed that breaks off each time, and reports other versions each time, does not fill
// the memory, and that the last reported versions are kept.
func TestReleasesOfCutFeed(t *testing.T) {
	const url = "https://h.example/tool-{version}.tar.gz"
	w, err := newWatcher(Watch{Name: "tool", URL: url, Releases: &Releases{Template: templateOf(t, url)}})
	if err != nil {
		t.Fatal(err)
	}
	m := &member{}
	for round := range 4 {
		var list []reported
		for i := range maxGlobbed {
			list = append(list, reported{release: release.Release{Version: "1",
				URL: fmt.Sprintf("https://h.example/%d-%d", round, i)}})
		}
		w.follow.hear(m, list, true)
		if n, most := len(w.follow.offers()), min(round+1, 2)*maxGlobbed; n != most {
			t.Fatalf("%d releases after round %d, want %d", n, round, most)
		}
		if last := list[maxGlobbed-1].release.URL; w.follow.offers()[last] == nil {
			t.Fatalf("%s is dropped", last)
		}
	}
}
