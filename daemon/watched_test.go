package daemon

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"braid/daemon/queue"
	"braid/download"
)

// TestStopped: of an entry of a watch it is told that it stopped when that is on disk, with what ended it, and that it was forgotten.
func TestStopped(t *testing.T) {
	s, b := newSite(t), newBench(t)
	told := map[queue.GID]bool{} // some are told of more than once
	type end struct {
		e   queue.Entry
		res download.Result
		err error
	}
	ends := make(chan end, 100)
	spent := errors.New("no more today")
	b.config.Hide = func(s string) string { return strings.ReplaceAll(s, "today", "***") }
	b.config.Stopped = func(e queue.Entry, res download.Result, err error) {
		if e.Status >= queue.Complete && !told[e.GID] {
			told[e.GID] = true
			ends <- end{e, res, err}
		}
	}
	b.config.Request = func(ctx context.Context, e queue.Entry) (download.Request, error) {
		r, err := b.request(ctx, e)
		r.Observe = func(ev download.Event) {
			if _, ok := ev.(download.Brought); ok && strings.HasSuffix(e.URIs[0], "/spent") {
				Fail(ctx, spent)
			}
		}
		return r, err
	}
	b.start()
	add := func(name string, status queue.Status) (g queue.GID) {
		b.do(func(q *queue.Queue) (err error) {
			g, err = q.Add(time.Now(), queue.Entry{URIs: []string{s.URL + "/300000/" + name}, Watch: "w", Status: status}, -1)
			return err
		})
		return g
	}
	if g, got := add("right", queue.Waiting), <-ends; got.e.GID != g || got.e.Status != queue.Complete || got.res.ETag != `"1"` || got.err != nil {
		t.Errorf("%+v", got)
	}
	s.holdAll()
	if g, got := add("spent", queue.Waiting), <-ends; got.e.GID != g || got.err != spent || got.e.Status != queue.Failed || got.e.Outcome.Message != "no more ***" {
		t.Errorf("%+v", got)
	}
	for _, status := range []queue.Status{queue.Paused, queue.Waiting} {
		g := add("removed", status)
		if status == queue.Waiting {
			b.awaitStatus(g, queue.Active)
		}
		b.do(func(q *queue.Queue) error { return errors.Join(q.Remove(time.Now(), g), q.Forget(g)) })
		if got := <-ends; got.e.GID != g || got.e.Status != queue.Removed {
			t.Errorf("%+v", got)
		}
	}
}
