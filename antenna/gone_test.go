package antenna

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"braid/antenna/feed"
)

// keysOf returns the keys in the store.
func keysOf(t *testing.T, s *Store) string {
	t.Helper()
	var list []string
	for _, bucket := range [][]byte{bucketFeeds, bucketReports, bucketTargets, bucketGone} {
		values, err := s.all(bucket)
		if err != nil {
			t.Fatal(err)
		}
		for key := range values {
			list = append(list, string(bucket)+" "+key)
		}
	}
	return strings.Join(list, "\n")
}

// TestGoneIsForgotten checks that the state of feeds and watches that are no longer configured is kept for a while, in
// case they come back, and then deleted.
func TestGoneIsForgotten(t *testing.T) {
	for _, back := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			_, _, a, j := oneFeed(t)
			dir := t.TempDir()
			feeds, watches := a.Feeds, a.Watches
			run := func() string {
				a.Store = storeIn(t, dir)
				defer closed(t, a.Store)
				watchFor(t, a, j, time.Minute)
				return keysOf(t, a.Store)
			}
			run()
			a.Feeds, a.Watches = nil, []Watch{{Name: "other", URL: "https://files.example/other"}}
			run()
			time.Sleep(forgotten - time.Hour)
			if got := run(); !strings.Contains(got, "feeds feed f") || !strings.Contains(got, "reports feed f") ||
				!strings.Contains(got, "watches a\x00") {
				t.Errorf("a while later there is\n%q", got)
			}
			if back {
				a.Feeds, a.Watches = feeds, watches
				run()
				a.Feeds, a.Watches = nil, nil
				run()
			}
			time.Sleep(2 * time.Hour)
			a.Feeds, a.Watches = nil, []Watch{{Name: "other", URL: "https://files.example/other"}}
			got := run()
			if back != strings.Contains(got, "f") && back ||
				!back && (strings.Contains(got, "feed f") || strings.Contains(got, "watches a")) {
				t.Errorf("in the end there is\n%q", got)
			}
			if got := reasons(j.got()); got != "first-sight" {
				t.Errorf("updates: %s", got)
			}
		})
	}
}

// TestForgetWhatIsGone checks that Forget deletes the state of a feed or watch that is no longer configured, and that
// of a former URL of a watch.
func TestForgetWhatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, a, j := oneFeed(t)
		dir := t.TempDir()
		w.sites["files.example"] = (&page{text: "x", modified: time.Now()}).answer
		a.Watches[0].CheckEvery = time.Hour
		a.Watches = append(a.Watches, Watch{Name: "b", URL: fileURL})
		a.Store = storeIn(t, dir)
		defer func() { closed(t, a.Store) }()
		watchFor(t, a, j, time.Minute)
		a.Feeds, a.Watches = nil, []Watch{{Name: "b", URL: "https://files.example/other"}}
		for _, name := range []string{"f", "a", "b"} {
			if err := a.Forget(t.Context(), name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := a.Forget(t.Context(), "a"); err == nil {
			t.Error("forgotten twice")
		}
		if got := keysOf(t, a.Store); strings.Contains(got, "feed f") || strings.Contains(got, "check a") ||
			strings.Contains(got, "watches a\x00") || strings.Count(got, "watches b\x00") > 1 {
			t.Errorf("left is\n%q", got)
		}
	})
}

// TestClockThatWasWrong checks that times stored while the clock was in the future do not delay anything.
func TestClockThatWasWrong(t *testing.T) {
	for name, once := range map[string]bool{"watch": false, "once": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, _, a, j := oneFeed(t)
				dir := t.TempDir()
				a.Store = storeIn(t, dir)
				j.handle = func(context.Context, Update) (Outcome, error) { return Outcome{}, errors.New("down") }
				watchFor(t, a, j, time.Minute)
				future := time.Now().AddDate(4, 0, 0)
				m := savedFeed{Next: future, Polled: future, Interval: time.Hour}
				l, err := a.newLoop()
				if err == nil {
					err = newLoader(l).start(time.Now())
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, member := range l.polls.members {
					member.saved.Next, member.saved.Polled = m.Next, m.Polled
					l.buffer.feed(member, true, time.Now())
				}
				for _, target := range l.targets.all {
					target.saved.Pending.At = future
					l.buffer.target(target, time.Now())
				}
				l.buffer.save()
				closed(t, a.Store)
				a.Store = storeIn(t, dir)
				defer closed(t, a.Store)
				j.handle = nil
				time.Sleep(time.Hour)
				if once {
					err = a.Once(t.Context(), j.take)
				} else {
					watchFor(t, a, j, time.Minute)
				}
				if got := j.got(); err != nil || got[len(got)-1].Try < 2 || len(w.to(feedURL)) != 2 {
					t.Errorf("%v, try %d, %d polls", err, got[len(got)-1].Try, len(w.to(feedURL)))
				}
			})
		})
	}
}

// TestNothingToCompare checks that a file whose server sends no date, tag or length is downloaded at each check,
// because nothing shows whether it has changed.
func TestNothingToCompare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		p.set("# nothing\n")
		w.sites["files.example"] = func(*http.Request) *http.Response { return says(200, "") }
		a.Watches[0].CheckEvery = time.Hour
		dir := t.TempDir()
		for range 2 {
			a.Store = storeIn(t, dir)
			watchFor(t, a, j, 3*time.Hour-time.Minute)
			closed(t, a.Store)
		}
		if got := reasons(j.got()); got != "first-sight no-information no-information no-information no-information "+
			"no-information" && got != "first-sight no-information no-information no-information no-information" {
			t.Errorf("updates: %s", got)
		}
	})
}

// TestDateFromTheFuture checks that the ETag shows whether a file has changed if its date is in the future.
func TestDateFromTheFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		p.set("# nothing\n")
		tag, date := `"1"`, time.Now().AddDate(4, 0, 0)
		w.sites["files.example"] = func(*http.Request) *http.Response {
			return says(200, "", "ETag: "+tag, "Last-Modified: "+date.UTC().Format(http.TimeFormat))
		}
		a.Watches[0].CheckEvery = time.Hour
		w.later(3*time.Hour, func() { tag = `"2"` })
		watchFor(t, a, j, 6*time.Hour)
		if got := reasons(j.got()); got != "first-sight modified" {
			t.Errorf("updates: %s", got)
		}
	})
}

// TestUselessReportsAreTold checks that one Skipped event is emitted if all reports of a file are unusable.
func TestUselessReportsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, a, j := oneFeed(t)
		p.set("HINA/2.2beta\r\nUser-Agent: x\r\n\r\nURL: " + fileURL + "\r\n\r\n")
		p.plain = true
		watchFor(t, a, j, 3*time.Hour)
		if got := eventsOf[Skipped](j); len(got) != 1 || got[0].Why != Why(feed.NoInformation) || got[0].Feed != "f" ||
			got[0].Watch != "a" {
			t.Errorf("%+v", got)
		}
	})
}

// TestUndatedNews checks that a file that a sitemap lists without a date is downloaded once, because nothing shows a
// later change.
func TestUndatedNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		a.Watches = append(a.Watches, Watch{Name: "all", URL: "https://files.example/**", Glob: true})
		p.set(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>` + fileURL + `</loc></url></urlset>`)
		p.plain = true
		w.sites["files.example"] = (&page{text: "x", modified: time.Now()}).answer
		watchFor(t, a, j, 3*time.Hour)
		if got := reasons(j.got()); got != "first-sight first-sight" {
			t.Errorf("updates: %s", got)
		}
	})
}

// TestURLThatComesBack checks that a watch that is changed back to its former URL downloads that file once, because it
// has the other file in its place.
func TestURLThatComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const another = "https://files.example/dist/b.tar.xz"
		_, p, a, j := oneFeed(t)
		p.set(lirsLine(fileURL, time.Now().Add(-time.Hour), time.Now(), 100) + lirsLine(another,
			time.Now().Add(-2*time.Hour), time.Now(), 200))
		a.Store = storeIn(t, t.TempDir())
		defer closed(t, a.Store)
		var got []string
		for _, u := range []string{fileURL, another, fileURL, fileURL} {
			a.Watches[0].URL = u
			j.updates = nil
			watchFor(t, a, j, 15*time.Minute)
			got = append(got, reasons(j.got()))
		}
		if want := []string{"first-sight", "first-sight", "first-sight", ""}; !slices.Equal(got, want) {
			t.Errorf("updates: %q", got)
		}
	})
}
