package daemon

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"braid/daemon/queue"
	"braid/download"
)

// TestLast checks that Config.Last sees all added entries and no running download.
func TestLast(t *testing.T) {
	b := newBench(t)
	var uris []string
	active := -1
	b.config.Last = func(q *queue.Queue) {
		active, _, _ = q.Count()
		for _, e := range q.Waiting(0, 9) {
			uris = append(uris, e.URIs...)
		}
	}
	b.start()
	b.do(func(q *queue.Queue) error {
		_, err := q.Add(time.Now(), queue.Entry{URIs: []string{"http://127.0.0.1:1/x"}, Status: queue.Paused}, -1)
		return err
	})
	b.stop()
	if active != 0 || len(uris) != 1 {
		t.Errorf("at the end %d are active, and %q wait", active, uris)
	}
}

// TestLastLate checks that Config.Last also sees an entry whose download does not stop in time, for example because its
// disk is slow. A list of incomplete downloads may be the only copy of the queue.
func TestLastLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, hangs, began, last := newBench(t), make(chan struct{}), make(chan struct{}), 0
		b.config.Request = func(context.Context, queue.Entry) (download.Request, error) {
			close(began)
			<-hangs
			return download.Request{}, context.Canceled
		}
		b.config.Last = func(q *queue.Queue) { last = len(q.Active()) }
		d, err := Open(b.config)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- d.Run(ctx) }()
		b.Daemon = d
		b.add("http://127.0.0.1:1/x")
		<-began
		cancel()
		if err := <-ended; err == nil || last != 1 {
			t.Errorf("%d entries, %v", last, err)
		}
		close(hangs)
	})
}
