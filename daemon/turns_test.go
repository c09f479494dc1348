package daemon

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"braid/daemon/queue"
	"braid/download"
	"braid/internal/test/pipes"
	"braid/source/httpsource"
)

// TestBehindASlowHost checks that a small file of a host does not wait for downloads from another host that hangs, if
// the number of downloads is not set: neither behind one nor behind many, be they in all places already.
func TestBehindASlowHost(t *testing.T) {
	const slow, fast = "http://127.0.0.1", "http://127.0.0.2"
	for many, later := range map[int]bool{1: false, 8: false, 9: true} {
		synctest.Test(t, func(t *testing.T) {
			l := make(pipes.Listener)
			s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Length", "3")
				if "http://"+r.Host == fast {
					w.Write([]byte("abc"))
					return
				}
				http.NewResponseController(w).Flush()
				<-r.Context().Done()
			})}
			go s.Serve(l)
			defer s.Close()
			b := newBench(t)
			b.config.Client.HTTP = &httpsource.Client{Dial: l.Dial}
			defer b.config.Client.HTTP.CloseIdle()
			b.start()
			defer b.stop()
			var urls []string
			for i := range many {
				urls = append(urls, fmt.Sprint(slow, "/", i))
			}
			if later {
				b.add(urls...)
				b.await("four are active", func(q *queue.Queue) bool { active, _, _ := q.Count(); return active >= 4 })
				urls = nil
			}
			began, gids := time.Now(), b.add(append(urls, fast+"/a")...)
			b.awaitStatus(gids[len(urls)], queue.Complete)
			if waited := time.Since(began); waited >= time.Second {
				t.Errorf("behind %d it waited for %v", many, waited)
			}
		})
	}
}

// TestLowestSpeed checks that a download slower than the lowest speed yields its place only if another one waits, and
// that this is not an error.
func TestLowestSpeed(t *testing.T) {
	b := newBench(t)
	b.config.Client.LowestSpeed = 1 << 10
	b.start()
	least := lowestOf(nil, b.client.LowestSpeed, &b.crowded)
	own := lowestOf(map[string]string{OptionLowest: "5K"}, b.client.LowestSpeed, &b.crowded)
	if b.crowded.Store(false); least() != 0 || own() != 0 {
		t.Error("nothing waits, and there is a least speed")
	}
	if b.crowded.Store(true); least() != 1<<10 || own() != 5<<10 {
		t.Errorf("%d and %d", least(), own())
	}
	if o := b.outcomeOf(download.Result{}, &download.Error{Kind: download.Budget,
		Err: download.ErrTooSlow}); o.Kind != queue.Yielded {
		t.Errorf("%+v", o)
	}
	if o := b.outcomeOf(download.Result{}, &download.Error{Kind: download.Budget,
		Err: errors.New("x")}); o.Kind != download.Budget.String() {
		t.Errorf("%+v", o)
	}
}

// TestLowestSpeedOfRequest checks that a download has a lowest speed while an entry waits for a place, and none
// otherwise.
func TestLowestSpeedOfRequest(t *testing.T) {
	b := newBench(t)
	b.config.Client.LowestSpeed = 1 << 10
	d, err := Open(b.config)
	if err != nil {
		t.Fatal(err)
	}
	l, e := newLoop(t.Context(), d), queue.Entry{URIs: []string{"http://127.0.0.1:1/x"}}
	req, err := d.request(t.Context(), newRun(e, func() {}), e)
	if err != nil {
		t.Fatal(err)
	}
	if l.prepare(t.Context()); req.Limits.Lowest() != 0 {
		t.Errorf("nothing waits, and the lowest speed is %d", req.Limits.Lowest())
	}
	if _, err := l.q.Add(time.Now(), e, -1); err != nil {
		t.Fatal(err)
	}
	if l.prepare(t.Context()); req.Limits.Lowest() != 1<<10 {
		t.Errorf("an entry waits, and the lowest speed is %d", req.Limits.Lowest())
	}
	l.offer.run.cancel()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// TestNothingBeginsUnwritten checks that a download begins only when its entry is on disk, so that a kill leaves no
// partial file of an unknown entry.
func TestNothingBeginsUnwritten(t *testing.T) {
	b := newBench(t)
	d, err := Open(b.config)
	if err != nil {
		t.Fatal(err)
	}
	l := newLoop(t.Context(), d)
	g, err := l.q.Add(time.Now(), queue.Entry{URIs: []string{"http://127.0.0.1:1/x"}}, -1)
	if err != nil {
		t.Fatal(err)
	}
	l.absorb()
	if _, jobs, spare := l.next(t.Context()); jobs != nil || spare != nil || l.offer == nil || l.offer.run.gid != g {
		t.Error("it is offered before it is on disk")
	}
	l.commit(<-l.written)
	if _, jobs, spare := l.next(t.Context()); jobs == nil || spare == nil {
		t.Error("it is on disk, and not offered")
	}
	l.offer.run.cancel()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
