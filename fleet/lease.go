package fleet

import (
	"fmt"
	"time"
)

// How long a lease may last, and lasts if nothing is said. It is prolonged three times in that.
const (
	ShortestLease = 5 * time.Second
	LongestLease  = 10 * time.Minute
	UsualLease    = 45 * time.Second
)

// A Lease is the right of one process to something until a time that it puts off again and again. All its times are by
// the clock of the queue, as clocks of machines may differ by minutes. The zero Lease is free.
type Lease struct {
	// Holder is the process that has the lease, or that had it last.
	Holder string `json:"holder,omitempty"`
	// Fence counts how often it was taken. What a holder does under an earlier number is late, and must not count.
	Fence uint64 `json:"fence,omitempty"`
	// Until is when others may take it. It is zero if it was given back.
	Until time.Time `json:"until,omitzero"`
}

// A HeldError says that another process has a lease.
type HeldError struct{ Lease Lease }

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s has it until %s", e.Lease.Holder, e.Lease.Until.UTC().Format(time.RFC3339))
}

// A LostError says that a lease is no longer that of a process, or was given back.
type LostError struct{ Now Lease }

func (e *LostError) Error() string {
	if e.Now.Until.IsZero() {
		return "the lease is held no more"
	}
	return "the lease is that of " + e.Now.Holder
}

// Take makes holder the one that has the lease for a time, under the next fence. While another one has it the error is
// a *HeldError.
func (l *Lease) Take(holder string, now time.Time, lasts time.Duration) error {
	if toCome(l.Until, now, LongestLease) {
		return &HeldError{*l}
	}
	*l = Lease{holder, l.Fence + 1, now.Add(lasts)}
	return nil
}

// Prolong puts the end off. It may be late, as long as no other process has taken the lease; else the error is a *LostError.
func (l *Lease) Prolong(holder string, fence uint64, now time.Time, lasts time.Duration) error {
	if err := l.Check(holder, fence); err != nil {
		return err
	}
	if until := now.Add(lasts); !toCome(l.Until, until, LongestLease) {
		l.Until = until
	}
	return nil
}

// toCome reports whether a time is to come. One that is farther off than most was said by a clock that was put back
// since then, and is over.
func toCome(t, now time.Time, most time.Duration) bool {
	return now.Before(t) && t.Sub(now) <= most
}

// Release gives the lease back, so that another process may take it at once.
func (l *Lease) Release(holder string, fence uint64) error {
	if err := l.Check(holder, fence); err != nil {
		return err
	}
	l.Until = time.Time{}
	return nil
}

// Check returns a *LostError unless the lease is that of holder under that fence.
func (l *Lease) Check(holder string, fence uint64) error {
	if l.Holder != holder || l.Fence != fence || l.Until.IsZero() {
		return &LostError{*l}
	}
	return nil
}
