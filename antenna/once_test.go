package antenna

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"braid/antenna/feed"
)

func TestOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		w.sites["down.example"] = func(*http.Request) *http.Response { return says(500, "") }
		a.Feeds = append(a.Feeds, Feed{Name: "down", URL: "https://down.example/"})
		dir := t.TempDir()
		once := func(names ...string) error {
			t.Helper()
			a.Store = storeIn(t, dir)
			defer closed(t, a.Store)
			return a.Once(t.Context(), j.take, names...)
		}
		j.handle = func(context.Context, Update) (Outcome, error) { return Outcome{}, errors.New("disk full") }
		err := once()
		var poll *PollError
		var handle *HandleError
		if !errors.As(err, &poll) || poll.Feed != "down" || !errors.As(err, &handle) || handle.Watch != "a" ||
			!strings.Contains(err.Error(), "disk full") {
			t.Errorf("the first round: %v", err)
		}
		// An update that failed is handled in a later round when it is due, and nothing else.
		if err := once(); err != nil || len(j.got()) != 1 || len(w.to(feedURL)) != 1 {
			t.Errorf("at once again: %v, %d updates", err, len(j.got()))
		}
		j.handle = nil
		time.Sleep(2 * time.Minute)
		if err := once(); err != nil || len(j.got()) != 2 || len(w.to(feedURL)) != 1 {
			t.Errorf("two minutes later: %v, %d updates, %d polls", err, len(j.got()), len(w.to(feedURL)))
		}
		// A round does not skip a feed because of jitter.
		time.Sleep(8 * time.Minute)
		if err := once(); err != nil || len(w.to(feedURL)) != 2 {
			t.Errorf("when the feed is due: %v, %d polls", err, len(w.to(feedURL)))
		}
		p.set(lirsLine(fileURL, time.Now(), time.Now(), 300))
		time.Sleep(w.gap)
		if err := once("a"); !errors.As(err, &poll) || reasons(j.got()) != "first-sight first-sight asked-for modified" {
			t.Errorf("by the watch's name: %v, %s", err, reasons(j.got()))
		}
		time.Sleep(w.gap)
		if err := once("f"); err != nil || len(w.to(feedURL)) != 4 {
			t.Errorf("by the feed's name: %v, %d polls", err, len(w.to(feedURL)))
		}
		if err := once("nobody"); err == nil || !strings.Contains(err.Error(), "nobody") {
			t.Errorf("nobody's name: %v", err)
		}
	})
}

func TestOnceIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, a, j := oneFeed(t)
		w.sites["feeds.example"] = func(*http.Request) *http.Response { return reply(200, drip{time.Second}) }
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := a.Once(ctx, j.take); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestRunNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, a, j := oneFeed(t)
		a.Feeds[0].Every = 10 * time.Hour
		if err := a.RunNow(t.Context(), "f"); err == nil {
			t.Error("it ran without running")
		}
		var mended atomic.Bool
		j.handle = func(context.Context, Update) (Outcome, error) {
			if !mended.Load() {
				return Outcome{}, errors.New("down")
			}
			return Outcome{Changed: true}, nil
		}
		time.AfterFunc(10*time.Second, func() {
			if err := a.RunNow(t.Context(), "f"); err != nil {
				t.Error(err)
			}
			mended.Store(true)
		})
		time.AfterFunc(20*time.Second, func() {
			if err := a.RunNow(t.Context(), "a"); err != nil {
				t.Error(err)
			}
			if err := a.RunNow(t.Context(), "nobody"); err == nil {
				t.Error("nobody ran")
			}
		})
		watchFor(t, a, j, 30*time.Second)
		if len(w.to(feedURL)) != 3 || len(j.got()) != 2 {
			t.Errorf("%d polls, %d updates", len(w.to(feedURL)), len(j.got()))
		}
	})
}

// TestAccessAfterReload checks that an antenna that shares its store with a running one, as around a reload, leads to
// the running one, whose state may not be stored yet, also while that begins and ends.
func TestAccessAfterReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, before, j := oneFeed(t)
		before.Store = storeIn(t, t.TempDir())
		defer closed(t, before.Store)
		before.Store.lost = errEmpty
		now := w.antenna(j)
		now.Feeds, now.Watches, now.Store = before.Feeds, before.Watches, before.Store
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			for ctx.Err() == nil {
				if _, err := before.Status(ctx); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				time.Sleep(time.Second)
			}
		})
		time.AfterFunc(time.Minute, func() {
			if err := before.RunNow(t.Context(), "f"); err != nil {
				t.Error(err)
			}
		})
		watchFor(t, now, j, 2*time.Minute)
		cancel()
		wg.Wait()
		if n := len(w.to(feedURL)); n != 2 {
			t.Errorf("%d polls, want one more for RunNow", n)
		}
		if err := before.RunNow(t.Context(), "f"); err == nil {
			t.Error("RunNow ran without a running antenna")
		}
	})
}

// TestAskedFor checks that RunNow handles a watch without a report, and that a later report still causes an update,
// because it may be about a newer version.
func TestAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		a.Watches = append(a.Watches, Watch{Name: "g", URL: "https://files.example/dist/*", Glob: true})
		text := p.text
		p.set("# nothing\n")
		runs := func(after time.Duration, name string) {
			time.AfterFunc(after, func() {
				if err := a.RunNow(t.Context(), name); err != nil {
					t.Error(err)
				}
			})
		}
		failing := true
		j.handle = func(_ context.Context, u Update) (Outcome, error) {
			if failing {
				failing = false
				return Outcome{}, errors.New("down")
			}
			return Outcome{Changed: true}, nil
		}
		runs(time.Minute, "a") // fails and is tried again
		runs(time.Minute, "g") // no URL of the glob is known
		w.later(time.Hour, func() { p.set(text) })
		runs(3*time.Hour, "a") // does not change the baseline
		w.later(4*time.Hour, func() { p.set(lirsLine(fileURL, time.Now().Add(-time.Minute), time.Now(), 120)) })
		watchFor(t, a, j, 5*time.Hour)
		var got []string
		for _, u := range j.got() {
			got = append(got, fmt.Sprintf("%s:%s:%d", u.Watch, u.Reason, u.Try))
		}
		slices.Sort(got[2:4]) // handled at the same time
		slices.Sort(got[5:])
		want := "a:asked-for:1 a:asked-for:2 a:first-sight:1 g:first-sight:1 a:asked-for:1 a:modified:1 g:modified:1"
		if s := strings.Join(got, " "); s != want {
			t.Errorf("updates: %s\nwant     %s", s, want)
		}
		if u := j.got()[4]; u.URL != fileURL || u.Feed != "" || u.Action != feed.Recheck || u.Record.LastModified == 0 {
			t.Errorf("%+v", u)
		}
	})
}

// TestAskedForAndReported checks that a report that arrives while a request of RunNow waits is not lost.
func TestAskedForAndReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, p, a, j := oneFeed(t)
		time.AfterFunc(time.Hour, func() { _ = a.RunNow(t.Context(), "a") })
		first := true
		j.handle = func(_ context.Context, u Update) (Outcome, error) {
			if u.Reason == AskedFor && first {
				first = false
				return Outcome{}, errors.New("down") // tried again a minute later, after a poll
			}
			return Outcome{Changed: true}, nil
		}
		w.later(time.Hour-time.Second, func() { p.set(lirsLine(fileURL, time.Now().Add(-time.Minute), time.Now(), 120)) })
		watchFor(t, a, j, 3*time.Hour)
		if got := reasons(j.got()); got != "first-sight asked-for modified" {
			t.Errorf("updates: %s", got)
		}
	})
}

// TestWants checks that Wants is asked at the start for URLs that were handled before, and that a run that only looks
// does not ask it.
func TestWants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, a, j := oneFeed(t)
		a.Watches = append(a.Watches, Watch{Name: "g", URL: "https://files.example/dist/*", Glob: true},
			Watch{Name: "new", URL: "https://files.example/new"})
		dir := t.TempDir()
		var asked []string
		a.Wants = func(u Update) bool {
			asked = append(asked, u.Watch)
			return u.Last.Size == 100
		}
		j.handle = func(_ context.Context, u Update) (Outcome, error) {
			if u.Reason == AskedFor {
				return Outcome{Size: 101}, nil
			}
			return Outcome{Changed: true, Size: 100}, nil
		}
		for range 3 {
			a.Store = storeIn(t, dir)
			if _, err := a.Status(t.Context()); err != nil {
				t.Error(err)
			}
			watchFor(t, a, j, time.Minute)
			closed(t, a.Store)
		}
		if got, want := reasons(j.got()), "first-sight first-sight asked-for"; got != want || strings.Join(asked, " ") != "a a" {
			t.Errorf("updates: %s, want %s; asked of %q", got, want, asked)
		}
		a.Store = storeIn(t, dir)
		defer closed(t, a.Store)
		a.Wants = func(Update) bool { return true }
		if err := a.Once(t.Context(), j.take); err != nil || reasons(j.got()) != "first-sight first-sight asked-for asked-for" {
			t.Errorf("in a round: %v, %s", err, reasons(j.got()))
		}
	})
}

func TestForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, a, j := oneFeed(t)
		dir := t.TempDir()
		a.Store = storeIn(t, dir)
		time.AfterFunc(10*time.Second, func() {
			if err := a.Forget(t.Context(), "a"); err != nil {
				t.Error(err)
			}
		})
		time.AfterFunc(20*time.Second, func() {
			if err := a.Forget(t.Context(), "f"); err != nil {
				t.Error(err)
			}
		})
		watchFor(t, a, j, 30*time.Second)
		if got := reasons(j.got()); got != "first-sight first-sight" {
			t.Errorf("running: %s", got)
		}
		if v := w.to(feedURL); len(v) != 2 || v[1].header.Get("If-None-Match") != "" {
			t.Errorf("running: %+v", v)
		}
		// Forget also works while nothing runs.
		if err := a.Forget(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		if err := a.Forget(t.Context(), "nobody"); err == nil {
			t.Error("nobody was forgotten")
		}
		closed(t, a.Store)
		a.Store = storeIn(t, dir)
		defer closed(t, a.Store)
		time.Sleep(w.gap)
		watchFor(t, a, j, time.Minute)
		if got := reasons(j.got()); got != "first-sight first-sight first-sight" {
			t.Errorf("not running: %s", got)
		}
	})
}

// TestForgetWhileHandling checks that Forget takes effect after the running update of the watch.
func TestForgetWhileHandling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, a, j := oneFeed(t)
		j.handle = func(context.Context, Update) (Outcome, error) {
			time.Sleep(time.Minute)
			return Outcome{Changed: true, ETag: "x"}, nil
		}
		time.AfterFunc(30*time.Second, func() {
			if err := a.Forget(t.Context(), "a"); err != nil {
				t.Error(err)
			}
		})
		watchFor(t, a, j, 5*time.Minute)
		if got := j.got(); len(got) != 2 || got[1].Last.ETag != "" {
			t.Errorf("%+v", got)
		}
	})
}

func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, a, j := oneFeed(t)
		dir := t.TempDir()
		a.Store = storeIn(t, dir)
		w.sites["down.example"] = func(*http.Request) *http.Response { return says(500, "") }
		a.Feeds = append(a.Feeds, Feed{Name: "down", URL: "https://u:p@down.example/?k=v"})
		a.Watches = append(a.Watches, Watch{Name: "b", URL: "https://files.example/b"})
		j.handle = func(context.Context, Update) (Outcome, error) { return Outcome{}, errors.New("disk \x1b full") }
		said := make(chan Status, 1)
		time.AfterFunc(time.Minute-1, func() {
			s, err := a.Status(t.Context())
			if err != nil {
				t.Error(err)
			}
			said <- s
		})
		watchFor(t, a, j, time.Minute)
		running := <-said
		stored, err := a.Status(t.Context())
		closed(t, a.Store)
		if got, want := fmt.Sprintf("%+v", stored), fmt.Sprintf("%+v", running); err != nil || got != want {
			t.Errorf("stored: %v\n%s\nrunning:\n%s", err, got, want)
		}
		f, d, x, b := running.Feeds[0], running.Feeds[1], running.Watches[0], running.Watches[1]
		if f.Polled.IsZero() || f.Next.IsZero() || f.Updates != 0 || f.Err != "" || f.Interval != 10*time.Minute {
			t.Errorf("%+v", f)
		}
		if d.URL != "https://u:***@down.example/?k=***" || d.Failures != 1 || d.Err != "status 500 Internal Server Error" {
			t.Errorf("%+v", d)
		}
		if !x.Pending || x.Err != `disk \x1b full` || x.Try != 1 || x.Reason != "first-sight" || b.Pending || b.Reason != "" {
			t.Errorf("%+v, %+v", x, b)
		}
	})
}

// TestStoreFails checks that an error of the store ends Watch, because nothing may be acknowledged that is not stored.
func TestStoreFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, a, j := oneFeed(t)
		a.Store = storeIn(t, t.TempDir())
		j.handle = func(context.Context, Update) (Outcome, error) {
			closed(t, a.Store)
			return Outcome{Changed: true}, nil
		}
		err := a.Watch(t.Context(), j.take)
		if err == nil || !strings.Contains(err.Error(), "store") {
			t.Error(err)
		}
		if h := eventsOf[Handled](j); len(h) > 0 {
			t.Errorf("told as done: %+v", h)
		}
	})
}
