package fleet

import (
	"fmt"
	"time"
)

// The limits for the duration of a lease, and its default. A lease is prolonged three times within its duration.
const (
	ShortestLease = 5 * time.Second
	LongestLease  = 10 * time.Minute
	UsualLease    = 45 * time.Second
)

// A Lease is the right of one process to something for a limited time. The process prolongs the lease repeatedly. All
// times are those of the queue's clock, because the clocks of machines may differ by minutes. The zero Lease is free.
type Lease struct {
	// Holder is the process that has the lease, or had it last.
	Holder string `json:"holder,omitempty"`
	// Fence counts how often the lease was taken. A write by a holder with a lower fence must be refused.
	Fence uint64 `json:"fence,omitempty"`
	// Until is when others may take the lease. It is zero after Release.
	Until time.Time `json:"until,omitzero"`
}

// A HeldError reports that another process has a lease.
type HeldError struct{ Lease Lease }

func (e *HeldError) Error() string {
	return fmt.Sprintf("leased by %s until %s", e.Lease.Holder, e.Lease.Until.UTC().Format(time.RFC3339))
}

// A LostError reports that a process no longer has a lease. Now is the current state of the lease.
type LostError struct{ Now Lease }

func (e *LostError) Error() string {
	if e.Now.Until.IsZero() {
		return "the lease is no longer held"
	}
	return "the lease is now held by " + e.Now.Holder
}

// Take gives the lease to holder until now plus lasts, with the next fence. It returns a *HeldError while any process
// has the lease, even if that process is holder.
func (l *Lease) Take(holder string, now time.Time, lasts time.Duration) error {
	if toCome(l.Until, now, LongestLease) {
		return &HeldError{*l}
	}
	*l = Lease{holder, l.Fence + 1, now.Add(lasts)}
	return nil
}

// Prolong makes the lease last at least until now plus lasts. It may be called after Until if no other process has
// taken the lease. It returns a *LostError if holder no longer has the lease with that fence.
func (l *Lease) Prolong(holder string, fence uint64, now time.Time, lasts time.Duration) error {
	if err := l.Check(holder, fence); err != nil {
		return err
	}
	if until := now.Add(lasts); !toCome(l.Until, until, LongestLease) {
		l.Until = until
	}
	return nil
}

// toCome reports whether t is in the future, but by no more than most. A later t is ignored, because it was written
// with a clock that has been set back since.
func toCome(t, now time.Time, most time.Duration) bool {
	return now.Before(t) && t.Sub(now) <= most
}

// Release ends the lease of holder, so that any process can take it immediately.
func (l *Lease) Release(holder string, fence uint64) error {
	if err := l.Check(holder, fence); err != nil {
		return err
	}
	l.Until = time.Time{}
	return nil
}

// Check returns a *LostError unless holder has the lease with that fence.
func (l *Lease) Check(holder string, fence uint64) error {
	if l.Holder != holder || l.Fence != fence || l.Until.IsZero() {
		return &LostError{*l}
	}
	return nil
}
