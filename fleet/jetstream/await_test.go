package jetstream

import (
	"context"
	"errors"
	"testing"
	"time"

	"braid/fleet"
)

// TestAwait_Rule80 checks that a watch learns how the job of a release ended. It learns so at once if the job ended
// before, and the queue does not try the job again by itself.
func TestAwait_Rule80(t *testing.T) {
	t.Parallel()
	h := hosted(t, t.TempDir())
	watcher, worker := opened(t, h, "watcher", time.Minute), opened(t, h, "worker", time.Minute)
	j := disk("1")
	type over struct {
		r   fleet.Record
		err error
	}
	ended := make(chan over)
	await := func() {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		r, err := watcher.Await(ctx, &j)
		ended <- over{r, err}
	}
	report(t, watcher, j, fleet.Fresh)
	go await()
	finish := func(e fleet.Ending) {
		t.Helper()
		if _, err := next(t, worker).Finish(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	finish(fleet.Ending{Kind: fleet.Wrong, Missing: true, Why: "404"})
	if x := <-ended; x.err != nil || x.r.State != fleet.Dead || x.r.Last == nil || !x.r.Last.Missing {
		t.Fatalf("a missing file: %+v, %v", x.r, x.err)
	}
	report(t, watcher, j, fleet.Fresh) // the watch has the job tried again
	finish(fleet.Ending{Kind: fleet.Right, SHA256: "0a"})
	for range 2 { // the second time as after a restart of the watch
		go await()
		if x := <-ended; x.err != nil || x.r.State != fleet.Done || x.r.Good.SHA256 != "0a" {
			t.Fatalf("a file in place: %+v, %v", x.r, x.err)
		}
		report(t, watcher, j, fleet.Duplicate)
	}
	if _, err := watcher.Drop(t.Context(), j.Key()); err != nil {
		t.Fatal(err)
	}
	go await()
	if x := <-ended; !errors.Is(x.err, ErrAbsent) {
		t.Errorf("a dropped job: %+v, %v", x.r, x.err)
	}
}
