package jetstream

import (
	"errors"
	"testing"
	"time"

	"braid/fleet"
)

// TestClocks_Rule74: leases and waits are by the clock of the queue, and not by those of workers, which are minutes off.
func TestClocks_Rule74(t *testing.T) {
	t.Parallel()
	h := hosted(t, t.TempDir())
	off := func(name string, by time.Duration) *Queue {
		q, err := Open(t.Context(), Options{Host: h, Name: name, Lease: 2 * time.Second, Works: true, clock: func() time.Time { return time.Now().Add(by) }})
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
		if until := time.Until(c.Record.Lease.Until); until < time.Second || until > 3*time.Second {
			t.Errorf("%s has it for %v", has.name, until)
		}
		r := record(t, has, "disk.iso")
		var held *fleet.HeldError
		if err := r.Take(takes.name, takes.now(), time.Second); !errors.As(err, &held) {
			t.Errorf("%s takes what %s has: %v", takes.name, has.name, err)
		}
		c.cancel(nil) // it is heard of no more
		c.beating.Wait()
		began := time.Now()
		taken := next(t, takes)
		if took := time.Since(began); took < time.Second || took > 6*time.Second || taken.Fence() != c.Fence()+1 {
			t.Errorf("%s takes it after %v, under fence %d", takes.name, took, taken.Fence())
		}
		var lost *fleet.LostError
		if _, err := c.Finish(t.Context(), fleet.Ending{Kind: fleet.Right}); !errors.As(err, &lost) {
			t.Errorf("%s ends what it has lost: %v", has.name, err)
		}
		now, err := taken.Finish(t.Context(), fleet.Ending{Kind: fleet.Failed})
		if wait := time.Until(now.Next); err != nil || wait < 28*time.Second || wait > 31*time.Second {
			t.Errorf("tried again after %v, %v", wait, err)
		}
	}
}
