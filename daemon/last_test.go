package daemon

import (
	"testing"
	"time"

	"braid/daemon/queue"
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
