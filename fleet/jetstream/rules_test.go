package jetstream

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"braid/fleet"
)

// TestClocks_Rule74: leases and waits are by the clock of the queue, and not by those of workers, which are minutes off.
func TestClocks_Rule74(t *testing.T) {
	t.Parallel()
	h := hosted(t, t.TempDir())
	off := func(name string, by time.Duration) *Queue {
		q, err := Open(t.Context(), Options{Host: h, Name: name, Lease: fleet.ShortestLease, Works: true,
			clock: func() time.Time { return time.Now().Add(by) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(q.Close)
		return q
	}
	fast, slow := off("fast", 7*time.Minute), off("slow", -7*time.Minute)
	for _, pair := range [][2]*Queue{{slow, fast}, {fast, slow}} {
		has, takes := pair[0], pair[1]
		report(t, has, disk(has.name), fleet.Fresh)
		c := next(t, has)
		if until := time.Until(c.Record.Lease.Until); until.Abs() > time.Minute { // the clocks are off by more
			t.Errorf("%s has it for %v", has.name, until)
		}
		r := record(t, has, "disk.iso")
		var held *fleet.HeldError
		if err := r.Take(takes.name, takes.clock.now(), time.Second); !errors.As(err, &held) {
			t.Errorf("%s takes what %s has: %v", takes.name, has.name, err)
		}
		began := time.Now()
		c.cancel(nil) // it is heard of no more
		c.beating.Wait()
		taken := next(t, takes)
		if took := time.Since(began); took < time.Second || taken.Fence() != c.Fence()+1 {
			t.Errorf("%s takes it after %v, under fence %d", takes.name, took, taken.Fence())
		}
		var lost *fleet.LostError
		if _, err := c.Finish(t.Context(), fleet.Ending{Kind: fleet.Right}); !errors.As(err, &lost) {
			t.Errorf("%s ends what it has lost: %v", has.name, err)
		}
		now, err := taken.Finish(t.Context(), fleet.Ending{Kind: fleet.Failed})
		if wait := time.Until(now.Next); err != nil || (wait-30*time.Second).Abs() > time.Minute {
			t.Errorf("tried again after %v, %v", wait, err)
		}
	}
}

// TestChanges_Rule74: what several processes make of one value at once is as if one had made it after the other.
func TestChanges_Rule74(t *testing.T) {
	t.Parallel()
	h := hosted(t, t.TempDir())
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} {
		q := opened(t, h, name, 0)
		all.Go(func() {
			for range 10 {
				if _, err := change(t.Context(), q.storage.pace, "n", func(n *int) error { *n++; return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n, _, err := read[int](t.Context(), opened(t, h, "d", 0).storage.pace, "n"); n != 30 || err != nil {
		t.Errorf("%d of 30 changes are there, %v", n, err)
	}
}

// TestMessageLost_Rule76: a watcher that was killed when it had stored a job, and before its message, reports it again,
// and then it comes to a worker.
func TestMessageLost_Rule76(t *testing.T) {
	t.Parallel()
	q := opened(t, hosted(t, t.TempDir()), "a", 0)
	if _, err := change(t.Context(), q.storage.jobs, fleet.KeyOf("disk.iso"),
		func(r *fleet.Record) error { _, err := r.Report(disk("1"), q.clock.now()); return err }); err != nil {
		t.Fatal(err)
	}
	report(t, q, disk("1"), fleet.Again)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if c, err := q.Next(ctx); err != nil || c.Record.Job.Version != "1" {
		t.Errorf("%v, %v", c, err)
	}
}

// TestEndWhileProlonged_Rule76: the end of a job is stored while its lease is being prolonged. Its worker has not lost it.
func TestEndWhileProlonged_Rule76(t *testing.T) {
	t.Parallel()
	q := opened(t, hosted(t, t.TempDir()), "a", 300*time.Millisecond)
	report(t, q, disk("1"), fleet.Fresh)
	c := next(t, q)
	if _, err := c.end(t.Context(), func(*fleet.Record) error {
		_, err := change(t.Context(), q.storage.jobs, fleet.KeyOf("disk.iso"), func(r *fleet.Record) error {
			return r.Finish("a", c.Fence(), fleet.Ending{Kind: fleet.Right}, q.clock.now())
		})
		if err = errors.Join(err, rest(t.Context(), 300*time.Millisecond)); err == nil { // the answer takes its time
			err = errSame
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := context.Cause(c.Context); lost(err) {
		t.Error(err)
	}
}

// TestForgotten_Rule76: a message that is in the stream and that its consumer knows nothing of, as after a server was
// killed, is delivered again.
func TestForgotten_Rule76(t *testing.T) {
	t.Parallel()
	q := opened(t, hosted(t, t.TempDir()), "a", time.Second)
	most := func(deliveries int) {
		c, err := q.storage.js.Consumer(t.Context(), streamName, consumerName)
		if err != nil {
			t.Fatal(err)
		}
		config := c.CachedInfo().Config
		config.MaxDeliver = deliveries
		if _, err := q.storage.js.UpdateConsumer(t.Context(), streamName, config); err != nil {
			t.Fatal(err)
		}
	}
	most(1) // after that it is forgotten
	report(t, q, disk("1"), fleet.Fresh)
	c := next(t, q)
	c.cancel(nil)
	c.Abandon()
	for n := int64(0); n == 0; rest(t.Context(), 100*time.Millisecond) {
		var err error
		if n, err = (&keeper{q: q}).forgotten(t.Context(), fleet.Normal); err != nil {
			t.Fatal(err)
		}
	}
	most(-1)
	if now := next(t, q); now.Fence() != c.Fence()+1 || left(t, q) != 1 {
		t.Errorf("fence %d, %d messages", now.Fence(), left(t, q))
	}
}
