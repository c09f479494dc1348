package daemon

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"braid/daemon/queue"
	"braid/download"
)

// TestBehindASlowHost checks that small files of a host do not wait for downloads from another host that hangs, if the
// number of downloads is not set.
func TestBehindASlowHost(t *testing.T) {
	slow, fast := newSite(t), newSite(t)
	slow.holdAll()
	b := newBench(t)
	b.start()
	for n := range 3 { // more downloads that hang than places
		b.add(fmt.Sprintf("%s/300000/s%d", slow.URL, n))
		if n == 2 {
			b.add(slow.urls(6, 300_000)...)
			b.await("four are active", func(q *queue.Queue) bool { active, _, _ := q.Count(); return active >= 4 })
		}
		for i := range 5 {
			for _, g := range b.add(fmt.Sprintf("%s/3/f%d-%d", fast.URL, n, i)) {
				b.awaitStatus(g, queue.Complete)
			}
		}
	}
	slow.release()
	b.await("all are complete", func(q *queue.Queue) bool { active, waiting, _ := q.Count(); return active+waiting == 0 })
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
	if o := b.outcomeOf(download.Result{}, &download.Error{Kind: download.Budget, Err: download.ErrTooSlow}); o.Kind != queue.Yielded {
		t.Errorf("%+v", o)
	}
	if o := b.outcomeOf(download.Result{}, &download.Error{Kind: download.Budget, Err: errors.New("x")}); o.Kind != download.Budget.String() {
		t.Errorf("%+v", o)
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
