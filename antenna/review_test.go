package antenna

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestReportFromTheFutureIsRecalled checks that a report with a time in the future is considered when that time has
// come, even after a restart and if the feed has not changed, in Watch and in Once.
func TestReportFromTheFutureIsRecalled(t *testing.T) {
	for name, once := range map[string]bool{"watch": false, "once": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, p, a, j := oneFeed(t)
				dir := t.TempDir()
				run := func() {
					a.Store = storeIn(t, dir)
					defer closed(t, a.Store)
					if once {
						if err := a.Once(t.Context(), j.take); err != nil {
							t.Error(err)
						}
						return
					}
					watchFor(t, a, j, 15*time.Minute)
				}
				run() // first sight
				at := time.Now().Add(3 * time.Hour)
				p.set(lirsLine(fileURL, at, at, 100))
				for range 12 {
					time.Sleep(20 * time.Minute)
					run()
				}
				if got := reasons(j.got()); got != "first-sight modified" {
					t.Errorf("updates: %s", got)
				}
			})
		})
	}
}

// TestReportDuringAHandlerIsRecalled checks that a report that arrived during an update is considered after a crash,
// even if the feed has not changed since.
func TestReportDuringAHandlerIsRecalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		before, after := t.TempDir(), t.TempDir()
		a.Store = storeIn(t, before)
		a.Feeds[0].Every = time.Minute
		j.handle = func(_ context.Context, u Update) (Outcome, error) {
			time.Sleep(10 * time.Minute)
			if u.Record.Size == 100 {
				crash(t, before, after) // just before the update is acknowledged
			}
			return Outcome{Changed: true}, nil
		}
		w.later(3*time.Minute, func() { p.set(lirsLine(fileURL, time.Now(), time.Now(), 200)) })
		watchFor(t, a, j, 15*time.Minute)
		closed(t, a.Store)
		j.updates = nil
		a.Store = storeIn(t, after)
		defer closed(t, a.Store)
		j.handle = nil
		watchFor(t, a, j, time.Hour)
		if got := j.got(); len(got) == 0 || got[len(got)-1].Record.Size != 200 {
			t.Errorf("updates: %+v", got)
		}
	})
}

// TestLookIsRecalled checks that the results of own checks are kept across a restart, so that older news cause no
// update.
func TestLookIsRecalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		dir := t.TempDir()
		file := &page{}
		file.set("x")
		w.sites["files.example"] = file.answer
		a.Watches[0].CheckEvery = 12 * time.Hour
		time.Sleep(time.Hour)
		p.set(atomOf(time.Now().Add(-30 * time.Minute))) // about the file that exists already
		for range 20 {
			a.Store = storeIn(t, dir)
			if err := a.Once(t.Context(), j.take); err != nil {
				t.Error(err)
			}
			closed(t, a.Store)
			time.Sleep(time.Hour)
		}
		if got := j.got(); len(got) > 2 { // the report or the check may come first
			t.Errorf("updates: %s", reasons(got))
		}
	})
}

// TestNamedRoundReviewsItsOwn checks that a round for some names handles updates of these names only.
func TestNamedRoundReviewsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		dir := t.TempDir()
		other := &page{}
		other.set("# nothing\n")
		w.sites["other.example"] = other.answer
		a.Feeds = append(a.Feeds, Feed{Name: "g", URL: "https://other.example/", Every: time.Hour})
		a.Watches = append(a.Watches, Watch{Name: "b", URL: "https://files.example/b", Feeds: []string{"g"}})
		once := func(names ...string) {
			t.Helper()
			time.Sleep(w.gap)
			a.Store = storeIn(t, dir)
			defer closed(t, a.Store)
			if err := a.Once(t.Context(), j.take, names...); err != nil {
				t.Error(err)
			}
		}
		once()
		at := time.Now().Add(2 * time.Hour)
		p.set(lirsLine(fileURL, at, at, 100))
		time.Sleep(15 * time.Minute)
		once() // downloads the report
		time.Sleep(2 * time.Hour)
		for _, name := range []string{"b", "g"} {
			if once(name); reasons(j.got()) != "first-sight asked-for" {
				t.Errorf("%s: %s", name, reasons(j.got()))
			}
		}
		if once("f"); reasons(j.got()) != "first-sight asked-for modified" {
			t.Error(reasons(j.got()))
		}
	})
}
