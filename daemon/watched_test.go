package daemon

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"braid/daemon/queue"
	"braid/download"
)

// TestStopped checks that the end of an entry of a watch is reported once it is on disk, with its result, and that its
// removal is reported.
func TestStopped(t *testing.T) {
	s, b := newSite(t), newBench(t)
	told := map[queue.GID]bool{} // some are reported more than once
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
	if g, got := add("right", queue.Waiting), <-ends; got.e.GID != g || got.e.Status != queue.Complete ||
		got.res.ETag != `"1"` || got.err != nil {
		t.Errorf("%+v", got)
	}
	s.holdAll()
	if g, got := add("spent", queue.Waiting), <-ends; got.e.GID != g || got.err != spent ||
		got.e.Status != queue.Failed || got.e.Outcome.Message != "no more ***" {
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

// TestStoppedForgotten checks that an entry that is forgotten right after its end is reported as complete or failed,
// not as removed.
func TestStoppedForgotten(t *testing.T) {
	s, b := newSite(t), newBench(t)
	ends := make(chan queue.Entry, 100)
	b.config.Stopped = func(e queue.Entry, _ download.Result, _ error) { ends <- e }
	b.start()
	notices, end := b.Subscribe()
	defer end()
	for name, want := range map[string]queue.Status{"right": queue.Complete, "absent": queue.Failed} {
		var g queue.GID
		b.do(func(q *queue.Queue) (err error) {
			g, err = q.Add(time.Now(), queue.Entry{URIs: []string{s.URL + "/300000/" + name}, Watch: "w"}, -1)
			return err
		})
		for n := range notices {
			if n.What == queue.OnComplete || n.What == queue.OnError {
				b.do(func(q *queue.Queue) error { return q.Forget(n.GID) })
				break
			}
		}
		e := <-ends
		// The removal of the previous entry may be reported again.
		for ; e.GID != g || e.Status < queue.Complete; e = <-ends {
		}
		if e.Status != want {
			t.Errorf("%s: %v, want %v", name, e.Status, want)
		}
	}
}

// TestStoppedEarly checks that an entry whose file is not there yet leaves the queue and the store without an error, and that
// its watch gets the error.
func TestStoppedEarly(t *testing.T) {
	s, b := newSite(t), newBench(t)
	type end struct {
		e   queue.Entry
		err error
	}
	ends := make(chan end, 100)
	b.config.Stopped = func(e queue.Entry, _ download.Result, err error) {
		if e.Status >= queue.Complete {
			ends <- end{e, err}
		}
	}
	b.start()
	notices, stop := b.Subscribe()
	defer stop()
	for _, c := range []struct {
		watch, name string
		last        queue.What
	}{{"w", "absent", queue.OnStop}, {"other", "absent", queue.OnError}, {"w", "present", queue.OnComplete}} {
		var g queue.GID
		b.do(func(q *queue.Queue) (err error) {
			g, err = q.Add(time.Now(), queue.Entry{URIs: []string{s.URL + "/1/" + c.name}, Watch: c.watch,
				Tentative: c.watch == "w"}, -1)
			return err
		})
		for i, want := range []queue.What{queue.OnStart, c.last} {
			if n := <-notices; n.GID != g || n.What != want {
				t.Errorf("%s %s: notice %d is %v, want %v", c.watch, c.name, i, n.What, want)
			}
		}
		early := c.last == queue.OnStop
		got := <-ends
		if got.e.GID != g || (got.e.Status == queue.Failed) != (c.name == "absent") ||
			(got.err != nil) != (c.name == "absent") || got.e.Watch != c.watch {
			t.Errorf("%s %s: the end is %+v", c.watch, c.name, got)
		}
		b.do(func(q *queue.Queue) error {
			if _, there := q.Entry(g); there == early {
				t.Errorf("%s %s: the entry is there: %t", c.watch, c.name, there)
			}
			return nil
		})
	}
	b.stop()
	b.start()
	b.do(func(q *queue.Queue) error {
		if active, waiting, stopped := q.Count(); active+waiting != 0 || stopped != 2 {
			t.Errorf("after a restart there are %d, %d, %d", active, waiting, stopped)
		}
		return nil
	})
}

// TestSeveralFiles checks that a document with several files is an error for a watch, which wants one file.
func TestSeveralFiles(t *testing.T) {
	const document = `<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="a"><url>http://127.0.0.1:1/a</url></file><file name="b"><url>http://127.0.0.1:1/b</url></file></metalink>`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/metalink4+xml")
		io.WriteString(w, document)
	}))
	defer s.Close()
	b := newBench(t)
	ends := make(chan error, 100)
	b.config.Stopped = func(e queue.Entry, _ download.Result, err error) {
		if e.Status == queue.Failed {
			ends <- err
		}
	}
	b.start()
	b.do(func(q *queue.Queue) error {
		_, err := q.Add(time.Now(), queue.Entry{URIs: []string{s.URL + "/all.meta4"}, Watch: "w"}, -1)
		return err
	})
	b.await("the end", func(q *queue.Queue) bool {
		active, waiting, stopped := q.Count()
		return active+waiting == 0 && stopped == 1
	})
	if err := <-ends; !strings.Contains(err.Error(), "2 files") {
		t.Error(err)
	}
}

// TestEndsOnce checks that a stop of a download that has already parked, while others have not, has no effect.
func TestEndsOnce(t *testing.T) {
	s, b := newSite(t), newBench(t)
	s.holdAll()
	free := make(chan struct{})
	b.config.AtOnce = 2
	b.config.Request = func(ctx context.Context, e queue.Entry) (download.Request, error) {
		if e.Watch == "" { // it parks only after the others
			<-free
		}
		return b.request(ctx, e)
	}
	var ends atomic.Int64
	b.config.Stopped = func(e queue.Entry, _ download.Result, _ error) {
		go func() {
			if ends.Add(1) == 1 {
				defer close(free)
			}
			b.Do(context.Background(), func(q *queue.Queue) error {
				q.Change(e.GID, map[string]string{OptionLimit: "1"})
				q.Restart(e.GID)
				q.PauseAll()
				return nil
			}) // fails at the very end
		}()
	}
	b.start()
	b.do(func(q *queue.Queue) error {
		for _, watch := range []string{"", "w"} {
			if _, err := q.Add(time.Now(), queue.Entry{URIs: []string{s.URL + "/300000/x" + watch}, Watch: watch},
				-1); err != nil {
				return err
			}
		}
		return nil
	})
	b.await("half of the file", func(q *queue.Queue) bool { active, _, _ := q.Count(); return active == 2 && s.sent.Load() > 0 })
	b.stop()
	if ends.Load() == 0 {
		t.Error("no end was told of")
	}
}
