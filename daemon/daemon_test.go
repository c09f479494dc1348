package daemon

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/daemon/queue"
	"braid/download"
)

// TestDownloads checks that added entries are downloaded in order with the right notices, and that only the files
// remain.
func TestDownloads(t *testing.T) {
	s, b := newSite(t), newBench(t)
	b.config.AtOnce = 1
	b.start()
	notices, done := b.Subscribe()
	urls := s.urls(20, 1000)
	gids := b.add(urls...)
	for _, g := range gids {
		for _, what := range []queue.What{queue.OnStart, queue.OnComplete} {
			if n := <-notices; n.GID != g || n.What != what {
				t.Errorf("%v, want %v of %v", n, what, g)
			}
		}
	}
	done()
	b.await("settled", func(q *queue.Queue) bool {
		return !slices.ContainsFunc(q.Stopped(0, 99), func(e queue.Entry) bool { return e.Outcome.Due })
	})
	b.do(func(q *queue.Queue) error {
		for i, e := range q.Stopped(0, 99) {
			if e.GID != gids[i] || e.Status != queue.Complete || e.Size != 1000 || e.Done != 1000 ||
				e.Path != filepath.Join(b.files, filepath.Base(urls[i])) || !strings.Contains(e.Outcome.Verified, "sha-256") {
				t.Errorf("%+v", e)
			}
		}
		return nil
	})
	b.right(urls...)
	b.stop()
	if err := b.Do(t.Context(), func(*queue.Queue) error { return nil }); err != ErrEnded {
		t.Errorf("of a daemon that has ended: %v", err)
	}
	if _, more := <-notices; more {
		t.Error("one that has unsubscribed is told")
	}
}

// TestNothingLeft checks that a daemon leaves no goroutine after its end.
func TestNothingLeft(t *testing.T) {
	s, b := newSite(t), newBench(t)
	before := runtime.NumGoroutine()
	s.holdAll()
	b.start()
	notices, _ := b.Subscribe()
	b.half(b.add(s.urls(5, 1<<20)...)[0])
	b.stop()
	for range notices { // until it is closed
	}
	s.CloseClientConnections()
	// The server's goroutines end a moment later.
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, before it %d\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// TestRestart checks that active downloads continue first, in order and with their partial files, and that the others
// wait as before.
func TestRestart(t *testing.T) {
	const size = 1 << 20
	s, b := newSite(t), newBench(t)
	s.holdAll()
	b.config.AtOnce = 2
	b.start()
	urls := s.urls(4, size)
	gids := b.add(urls...)
	b.do(func(q *queue.Queue) error { return errors.Join(q.Pause(gids[2])) })
	b.half(gids[0])
	b.half(gids[1])
	b.stop()
	b.config.AtOnce = 1
	b.start()
	notices, done := b.Subscribe()
	defer done()
	b.do(func(q *queue.Queue) error { return q.Resume(gids[2]) })
	s.release() // the first request is held, and later the third one
	var order []queue.GID
	for len(order) < 4 {
		if n := <-notices; n.What == queue.OnComplete {
			order = append(order, n.GID)
		}
	}
	if !slices.Equal(order, gids) {
		t.Errorf("the order is %v, want %v", order, gids)
	}
	b.await("settled", func(q *queue.Queue) bool {
		return !slices.ContainsFunc(q.Stopped(0, 99), func(e queue.Entry) bool { return e.Outcome.Due })
	})
	b.right(urls...)
	if n := s.sent.Load(); n > 5*size {
		t.Errorf("%d bytes were sent for four files of %d", n, size)
	}
}

// TestPauseResumeRemove checks that a download can be paused and resumed, and that a removed one frees its place.
func TestPauseResumeRemove(t *testing.T) {
	s, b := newSite(t), newBench(t)
	s.holdAll()
	b.config.AtOnce = 1
	b.start()
	gids := b.add(s.urls(3, 1<<20)...)
	b.half(gids[0])
	b.do(func(q *queue.Queue) error { return q.Pause(gids[0]) })
	b.half(gids[1]) // it now has the place
	b.do(func(q *queue.Queue) error {
		if _, busy := q.Live(gids[0]); busy {
			t.Error("what is paused is still at work")
		}
		if e, _ := q.Entry(gids[0]); e.Done < 500<<10 || e.Path == "" {
			t.Errorf("of the paused one is known %+v", e)
		}
		return q.Remove(time.Now(), gids[1])
	})
	b.half(gids[2])
	s.release()
	b.do(func(q *queue.Queue) error { return q.Resume(gids[0]) })
	b.awaitStatus(gids[0], queue.Complete)
	b.awaitStatus(gids[2], queue.Complete)
	b.awaitStatus(gids[1], queue.Removed)
}

// TestChangedAtTheEnd checks that an entry is not complete if its options are changed after its file is in place and
// before the daemon has recorded that. The next attempt judges the file by the new options, without a transfer.
func TestChangedAtTheEnd(t *testing.T) {
	for option, want := range map[string]queue.Status{"bad": queue.Failed, "other": queue.Complete} {
		s, b := newSite(t), newBench(t)
		s.holdAll()
		b.config.Request = func(ctx context.Context, e queue.Entry) (download.Request, error) {
			r, err := b.request(ctx, e)
			r.IfExists.Rename = true
			return r, err
		}
		b.start()
		urls := s.urls(1, 1<<20)
		g := b.add(urls...)[0]
		b.half(g)
		b.do(func(q *queue.Queue) error {
			s.release()
			for wait := os.ErrNotExist; wait != nil; time.Sleep(time.Millisecond) { // between two looks
				_, wait = os.Lstat(filepath.Join(b.files, filepath.Base(urls[0])))
			}
			return q.Change(g, map[string]string{option: "1"})
		})
		b.awaitStatus(g, want)
		if n := s.sent.Load(); n > 1<<20 {
			t.Errorf("%s: %d bytes were sent", option, n)
		}
		if b.stop(); want == queue.Complete {
			b.right(urls...)
		}
	}
}

// TestAgain checks that a file can be added again right after its download was removed, even while that one still uses
// the file.
func TestAgain(t *testing.T) {
	s, b := newSite(t), newBench(t)
	s.holdAll()
	b.config.AtOnce = 3
	b.start()
	u := s.urls(1, 1<<20)
	first := b.add(u...)[0]
	for range 5 {
		b.half(first)
		b.do(func(q *queue.Queue) error {
			err := q.Remove(time.Now(), first)
			next, _ := q.Add(time.Now(), queue.Entry{URIs: u}, -1)
			first = next
			return err
		})
	}
	s.release()
	b.awaitStatus(first, queue.Complete)
}

// TestFails checks that a failed download has a reason and can be retried.
func TestFails(t *testing.T) {
	s, b := newSite(t), newBench(t)
	b.start()
	g := b.add(s.URL + "/1/absent")[0]
	var bad queue.GID
	b.do(func(q *queue.Queue) (err error) {
		bad, err = q.Add(time.Now(), queue.Entry{URIs: []string{s.URL + "/1/x"}, Options: map[string]string{"bad": "1"}}, -1)
		return err
	})
	for range 2 {
		b.awaitStatus(g, queue.Failed)
		b.awaitStatus(bad, queue.Failed)
		b.do(func(q *queue.Queue) error {
			e, _ := q.Entry(g)
			wrong, _ := q.Entry(bad)
			if e.Outcome.Code != 3 || e.Outcome.Kind != "refused" || !strings.Contains(e.Outcome.Message, "404") ||
				e.Outcome.Reason != "404 Not Found" || wrong.Outcome.Message != "no such option" {
				t.Errorf("%+v and %+v", e.Outcome, wrong.Outcome)
			}
			return q.Resume(g)
		})
	}
	b.await("a third time", func(q *queue.Queue) bool {
		e, _ := q.Entry(g)
		return e.Outcome.Attempts == 3 && e.Status == queue.Failed
	})
}

// TestGlobalOptions checks that global options are the defaults of each download, except those that limit all of them
// together.
func TestGlobalOptions(t *testing.T) {
	s, b := newSite(t), newBench(t)
	got := make(chan map[string]string, 2)
	b.config.AtOnce = 1
	b.config.Request = func(ctx context.Context, e queue.Entry) (download.Request, error) {
		got <- e.Options
		return b.request(ctx, e)
	}
	b.start()
	b.do(func(q *queue.Queue) error {
		q.ChangeGlobal(map[string]string{"a": "1", "b": "2", OptionAtOnce: "1", OptionGlobalLimit: "1M"})
		for _, own := range []map[string]string{nil, {"b": "3"}} {
			if _, err := q.Add(time.Now(), queue.Entry{URIs: []string{s.URL + "/1/absent"}, Options: own}, -1); err != nil {
				return err
			}
		}
		return nil
	})
	for _, want := range []map[string]string{{"a": "1", "b": "2"}, {"a": "1", "b": "3"}} {
		if options := <-got; !maps.Equal(options, want) {
			t.Errorf("the options are %v, want %v", options, want)
		}
	}
}

// TestOptionsWhileRunning checks that the number of downloads and their speed can be changed while they run, and that
// the change survives a restart.
func TestOptionsWhileRunning(t *testing.T) {
	s, b := newSite(t), newBench(t)
	s.holdAll()
	b.config.AtOnce = 1
	b.start()
	gids := b.add(s.urls(4, 1<<20)...)
	b.half(gids[0])
	b.do(func(q *queue.Queue) error {
		q.ChangeGlobal(map[string]string{OptionAtOnce: "3", OptionGlobalLimit: "0"})
		return nil
	})
	b.half(gids[2])
	b.do(func(q *queue.Queue) error {
		if active, _, _ := q.Count(); active != 3 {
			t.Errorf("%d at once", active)
		}
		return q.Change(gids[0], map[string]string{OptionLimit: "4K"})
	})
	s.release()
	b.awaitStatus(gids[2], queue.Complete)
	b.awaitStatus(gids[3], queue.Complete)
	b.do(func(q *queue.Queue) error {
		if e, _ := q.Entry(gids[0]); e.Status != queue.Active {
			t.Errorf("at 4 KiB/s it is %v", e.Status)
		}
		return q.Change(gids[0], map[string]string{OptionLimit: ""})
	})
	b.awaitStatus(gids[0], queue.Complete)
	b.stop()
	b.start()
	s.holdAll()
	gids = b.add(s.URL+"/1000000/x", s.URL+"/1000000/y", s.URL+"/1000000/z")
	b.half(gids[2])
	s.release()
}

// TestSlowSubscriber checks that the channel of a slow subscriber is closed without delaying others.
func TestSlowSubscriber(t *testing.T) {
	b := newBench(t)
	b.start()
	notices, done := b.Subscribe()
	defer done()
	b.do(func(q *queue.Queue) error {
		for range mostNotices + 1 {
			g, _ := q.Add(time.Now(), queue.Entry{URIs: []string{"http://h/"}, Status: queue.Paused}, -1)
			q.Remove(time.Now(), g)
			q.Forget(g)
		}
		return nil
	})
	n := 0
	for range notices {
		n++
	}
	if n != mostNotices {
		t.Errorf("%d notices before the end, want %d", n, mostNotices)
	}
}
