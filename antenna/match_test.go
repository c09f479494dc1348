package antenna

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"braid/antenna/feed"
)

func TestGlob(t *testing.T) {
	for _, tt := range []struct {
		glob, url string
		want      bool
	}{
		{"https://h.example/dist/*.iso", "https://h.example/dist/a.iso", true},
		{"https://h.example/dist/*.iso", "https://h.example/dist/.iso", true},
		{"https://h.example/dist/*.iso", "https://h.example/dist/x/a.iso", false},
		{"https://h.example/dist/*.iso", "https://h.example/dist/a.iso.sig", false},
		{"https://h.example/dist/**.iso", "https://h.example/dist/x/y/a.iso", true},
		{"https://h.example/**", "https://h.example/", true},
		{"https://h.example/*/b/*", "https://h.example/a/b/c", true},
		{"https://h.example/*/b/*", "https://h.example/a/x/b/c", false},
		{"HTTPS://H.example:443/%7Eu/*", "https://h.example/~u/a", true},
		{"https://h.example/a?v=*", "https://h.example/a?v=1", true},
		{"https://h.example/a?v=*", "https://h.example/abv=1", false},
		{"https://h.example/a.b/*", "https://h.example/axb/c", false},
		{"https://h.example/libstdc++/*", "https://h.example/libstdc%2B%2b/c", true},
		{"https://h.example/libstdc%2B%2b/*", "https://h.example/libstdc++/c", true},
		{"https://h.example/*/libstdc++-%5b*", "https://h.example/a/libstdc%2B%2B-%5B1", true},
		{"https://h.example/**/é*", "https://h.example/a/%c3%a9b", true},
		{"https://h.example/*?v=1+%7e*", "https://h.example/a?v=1+~2", true},
		{"https://h.example/*", "https://h.example.evil.example/a", false},
		{"https://h.example/*", "https://me@h.example/a", false},
		{"https://h.example/*", "https://h.example:444/a", false},
		{"https://h.example/*", "http://h.example/a", false},
		{"https://h.example/index.html*", "https://h.example/index.html.gz", true},
		{"https://h.example/*", "https://h.example/x/../y", false},
		{"https://h.example/a/**", "https://h.example/a/../b", false},
		{"https://h.example/a/**", "https://h.example/a/x/%2E%2e", false},
		{"https://h.example/a/**", "https://h.example/a/..?x", false},
		{"https://h.example/a/**", "https://h.example/a/..x?/../", true},
		{"https://h.example/*", "https://h.example/a\nb", false},
	} {
		w, err := newWatcher(Watch{Name: "g", URL: tt.glob, Glob: true})
		if err != nil {
			t.Fatalf("%s: %v", tt.glob, err)
		}
		m := newMatcher([]*watcher{w})
		found := false
		m.find("f", feed.Record{URL: tt.url}, func(got *watcher, url string) {
			key, _ := feed.Key(tt.url)
			if found = true; got != w || url != key {
				t.Errorf("%s: found %s for %s", tt.glob, url, tt.url)
			}
		})
		if found != tt.want {
			t.Errorf("%s matches %s: %v", tt.glob, tt.url, found)
		}
	}
}

func TestGlobNeedsItsHost(t *testing.T) {
	for _, glob := range []string{
		"https://*/a", "https://*.example/a", "https://h.example*/a", "https://h.example", "*", "ftp://h.example/*",
		"https:///*", "/a/*", "h*://x.example/",
	} {
		if _, err := newWatcher(Watch{URL: glob, Glob: true}); err == nil {
			t.Errorf("%s is taken", glob)
		}
	}
}

func TestFind(t *testing.T) {
	watch := func(name, url string, feeds ...string) *watcher {
		w, err := newWatcher(Watch{Name: name, URL: url, Feeds: feeds, Glob: strings.Contains(url, "*")})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	m := newMatcher([]*watcher{
		watch("a", "https://h.example/A"), watch("b", "https://h.example/A", "two"), watch("c", "https://h.example/*",
			"two", "three"),
	})
	for _, tt := range []struct {
		feed   string
		record feed.Record
		want   string
	}{
		{"one", feed.Record{URL: "HTTPS://h.example/A"}, "a"},
		{"two", feed.Record{URL: "https://h.example/A"}, "a b c"},
		{"three", feed.Record{URL: "https://h.example/A"}, "a c"},
		{"one", feed.Record{URL: "https://h.example/a"}, ""},
		{"one", feed.Record{URL: "https://h.example/a", Format: feed.LIRS}, "a"},
		{"two", feed.Record{URL: "mailto:x"}, ""},
	} {
		var got []string
		m.find(tt.feed, tt.record, func(w *watcher, url string) {
			if got = append(got, w.Name); w.glob == nil && url != w.URL {
				t.Errorf("the feed's spelling: %s", url)
			}
		})
		if strings.Join(got, " ") != tt.want {
			t.Errorf("feed %s, %s: %q, want %s", tt.feed, tt.record.URL, got, tt.want)
		}
	}
}

// TestWithUser checks that a watch with user and password in its URL matches records without them, and that its own URL
// is requested.
func TestWithUser(t *testing.T) {
	for _, url := range []string{"https://me:w@rd@h.example/a@b", "https://me@h.example/a@b", "https://h.example/a@b"} {
		w, err := newWatcher(Watch{Name: "w", URL: url})
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		newMatcher([]*watcher{w}).find("f", feed.Record{URL: "https://h.example/a@b"},
			func(_ *watcher, url string) { found = url })
		if found != url {
			t.Errorf("%s: found %q", url, found)
		}
	}
}

func TestGlobbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := oneFeed(t)
		dir := t.TempDir()
		a.Watches = []Watch{{Name: "all", URL: "https://files.example/dist/*.iso", Glob: true}}
		set := func(n int) {
			var b strings.Builder
			for i := range n {
				b.WriteString(lirsLine(fmt.Sprintf("https://FILES.example/dist/%d.iso", i), time.Now(), time.Now(), 5))
			}
			p.set(b.String() + lirsLine("https://files.example/dist/x.txt", time.Now(), time.Now(), 5))
		}
		set(2)
		for range 2 {
			a.Store = storeIn(t, dir)
			watchFor(t, a, j, time.Hour)
			closed(t, a.Store)
			set(3)
		}
		var urls []string
		for _, u := range j.got() {
			urls = append(urls, fmt.Sprint(strings.TrimPrefix(u.URL, "https://files.example/dist/"), " ", u.Reason))
		}
		slices.Sort(urls)
		if got := strings.Join(urls, ", "); got != "0.iso first-sight, 0.iso modified, 1.iso first-sight, 1.iso "+
			"modified, 2.iso first-sight" {
			t.Error(got)
		}
		a.Store = storeIn(t, dir)
		defer closed(t, a.Store)
		if s, err := a.Status(t.Context()); err != nil || len(s.Watches) != 3 || !s.Watches[2].HaveCopy {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

// TestGlobIsBounded checks the limits on the URLs of a glob and on the reports of one URL.
func TestGlobIsBounded(t *testing.T) {
	glob, err := newWatcher(Watch{Name: "g", URL: "https://h.example/**", Glob: true})
	if err != nil {
		t.Fatal(err)
	}
	c := newCollector(&Feed{Limits: Limits{}.orDefault()}, newMatcher([]*watcher{glob}), 1e9)
	k, err := c.collect(func(yield func(feed.Record, error) bool) {
		for i := range maxGlobbed + 100 {
			for n := range 2 * maxReports {
				if i > 10 && n > 0 {
					break // one report is enough for the others
				}
				yield(feed.Record{URL: fmt.Sprintf("https://h.example/%d", i), LastModified: 1e9}, nil)
			}
		}
	})
	if err != nil || len(k.matches) > maxGlobbed*maxReports || !slices.Equal(k.tooMany, []string{"g"}) {
		t.Errorf("%d hits, too many of %q, %v", len(k.matches), k.tooMany, err)
	}
	urls := map[string]int{}
	for _, h := range k.matches {
		urls[h.url]++
	}
	if len(urls) != maxGlobbed || urls["https://h.example/0"] != maxReports {
		t.Errorf("%d URLs, one of them %d times", len(urls), urls["https://h.example/0"])
	}
}

func TestGlobIsBoundedOverTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, a, j := oneFeed(t)
		n := 0
		w.sites["feeds.example"] = siteOfText(func() string {
			var b strings.Builder
			for range maxGlobbed/2 + 1 {
				n++
				b.WriteString(lirsLine(fmt.Sprintf("https://files.example/%d", n), time.Now(), time.Now(), 0))
			}
			return b.String()
		})
		a.Watches = []Watch{{Name: "all", URL: "https://files.example/*", Glob: true}}
		watchFor(t, a, j, 25*time.Minute)
		var full []Skipped
		for _, e := range eventsOf[Skipped](j) {
			if e.Why == TooMany {
				full = append(full, e)
			}
		}
		if len(full) == 0 || full[0].Watch != "all" || full[0].Feed != "f" { // a delayed update makes no room
			t.Errorf("%+v", full)
		}
	})
}

// TestGlobTakesNewURLs checks that a glob accepts new URLs, however many there were before, unless all others are still
// reported, and that a URL that the feed always lists stays known.
func TestGlobTakesNewURLs(t *testing.T) {
	for _, dead := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w, _, a, j := oneFeed(t)
			start, n := seconds(time.Now()), 0
			a.Feeds[0].Limits.Updates = -1
			w.sites["feeds.example"] = siteOfText(func() string {
				b := strings.Builder{}
				b.WriteString(lirsLine("https://files.example/always", start, start, 5))
				for range maxGlobbed / 3 {
					n++
					b.WriteString(lirsLine(fmt.Sprintf("https://files.example/%d", n), start, start, 5))
				}
				return b.String()
			})
			a.Watches = []Watch{{Name: "all", URL: "https://files.example/*", Glob: true}}
			j.handle = func(context.Context, Update) (Outcome, error) {
				if dead {
					return Outcome{}, errors.New("404")
				}
				return Outcome{Changed: true}, nil
			}
			watchFor(t, a, j, 45*time.Minute)
			seen := map[string]int{}
			for _, u := range j.got() {
				seen[u.URL]++
			}
			if n <= maxGlobbed || len(seen) != n+1 || seen["https://files.example/always"] != 1 && !dead {
				t.Errorf("dead %v: %d of %d URLs, the one that was there all along %d times", dead, len(seen), n+1,
					seen["https://files.example/always"])
			}
			if skipped := eventsOf[Skipped](j); len(skipped) > 0 {
				t.Errorf("%+v", skipped)
			}
		})
	}
}

// TestGlobbedIsKept checks that a URL that the feed lists stays known while the feed responds with 304, also if the
// feed is renamed afterwards.
func TestGlobbedIsKept(t *testing.T) {
	for _, rename := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			_, p, a, j := oneFeed(t)
			p.set(soifText(time.Now())) // never expires
			dir := t.TempDir()
			a.Watches = []Watch{{Name: "all", URL: "https://files.example/**", Glob: true}}
			run := func(d time.Duration) {
				a.Store = storeIn(t, dir)
				a.Store.db.NoSync = true
				watchFor(t, a, j, d)
				closed(t, a.Store)
			}
			run(time.Hour)
			a.Feeds[0].Every = 24 * time.Hour
			run(forgotten + 48*time.Hour)
			a.Watches = append(a.Watches, Watch{Name: "other", URL: "https://files.example/other"})
			if rename {
				a.Feeds[0].Name = "g"
			}
			run(time.Hour)
			run(time.Hour)
			if got := reasons(j.got()); got != "first-sight" {
				t.Errorf("renamed %v: updates: %s", rename, got)
			}
		})
	}
}

// TestGlobbedIsForgotten checks that a URL that was not reported for a quarter of a year is forgotten at the next
// start.
func TestGlobbedIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := oneFeed(t)
		dir := t.TempDir()
		a.Watches = []Watch{{Name: "all", URL: "https://files.example/**", Glob: true}}
		for _, wait := range []time.Duration{forgotten - 4*time.Hour, 5 * time.Hour, 0} {
			a.Store = storeIn(t, dir)
			watchFor(t, a, j, time.Hour)
			s, err := a.Status(t.Context())
			closed(t, a.Store)
			if want := map[bool]int{true: 1, false: 0}[wait != 0]; err != nil || len(s.Watches) != want {
				t.Errorf("%d URLs are known, %v, want %d", len(s.Watches), err, want)
			}
			p.set("# nothing\n")
			time.Sleep(wait)
		}
	})
}

func siteOfText(text func() string) site {
	p := page{plain: true}
	return func(req *http.Request) *http.Response {
		p.text = text()
		return p.answer(req)
	}
}

// TestQueue checks that the first item of a queue is always the one that is due first.
func TestQueue(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var q queue[*host]
	items := make([]*host, 50)
	for i := range items {
		items[i] = &host{}
	}
	start := time.Date(2026, 11, 10, 0, 0, 0, 0, time.UTC)
	due := map[*host]time.Time{}
	for range 20_000 {
		h := items[r.IntN(len(items))]
		if r.IntN(3) == 0 {
			q.remove(h)
			delete(due, h)
		} else {
			at := start.Add(time.Duration(r.IntN(100)) * time.Second)
			q.put(h, at)
			due[h] = at
		}
		first, at, ok := q.first()
		if ok != (len(due) > 0) || len(q.items) != len(due) {
			t.Fatalf("%d in the queue, want %d", len(q.items), len(due))
		}
		for other, t2 := range due {
			if t2.Before(at) || !due[first].Equal(at) {
				t.Fatalf("first is %v, but %v is due at %v", at, other, t2)
			}
		}
	}
}

// TestRoomOfOneFeed checks that a feed that lists too many URLs of a glob does not take the room of another feed.
func TestRoomOfOneFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		a.Watches = []Watch{{Name: "g", URL: "https://files.example/*", Glob: true}}
		start := time.Now()
		var b strings.Builder
		for i := range maxGlobbed {
			b.WriteString(lirsLine(fmt.Sprintf("https://files.example/no%d", i), start, start, 1))
		}
		p.set(b.String())
		other := &page{plain: true}
		other.set("# nothing\n")
		w.later(2*time.Hour, func() { other.set(lirsLine("https://files.example/good", time.Now(), time.Now(), 1)) })
		w.sites["other.example"] = other.answer
		a.Feeds = append(a.Feeds, Feed{Name: "other", URL: "https://other.example/", Every: 10 * time.Minute})
		good := 0
		j.handle = func(_ context.Context, u Update) (Outcome, error) {
			if u.URL == "https://files.example/good" {
				good++
				return Outcome{Changed: true}, nil
			}
			return Outcome{}, errors.New("404")
		}
		watchFor(t, a, j, 4*time.Hour)
		if good != 1 {
			t.Errorf("the URL of the other feed was requested %d times", good)
		}
	})
}
