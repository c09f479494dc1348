package partfile

import (
	"math"
	"slices"
	"sync"

	"braid/byterange"
)

const (
	// runSize is how much new data of one writer is journaled at the latest.
	runSize = 1 << 20
	// maxRuns is how many runs wait for the journal at most. More writers than that are not expected.
	maxRuns = 64
)

// A run is bytes that were written, and their CRC-32C.
type run struct {
	byterange.Range
	crc uint32
}

// A phase is what a part file can be asked for.
type phase uint8

const (
	inherited phase = iota // has bytes of an earlier run, and the caller has not decided about them
	idle                   // may begin
	writing                // takes bytes
	closed
)

// A ledger knows where the bytes of a part file are: nowhere, on their way or written. It does no input
// or output. Its methods may be called by several goroutines.
type ledger struct {
	mu          sync.Mutex
	changed     sync.Cond // with mu: a claim or the barrier has ended
	phase       phase
	unjournaled bool          // there is no journal to keep runs for
	claimed     byterange.Set // written or being written
	done        byterange.Set // written
	front       int64         // first byte that is not in done
	barrier     byterange.Set // revoked, and not void on disk yet: no new claims here
	syncing     byterange.Set // was in done when the running sync began, and was not revoked since
	synced      byterange.Set // what was put on disk, and was not revoked since
	runs        []run         // in done, not in the journal
	moved       chan struct{} // closed when front is beyond least or the phase changes; nil if there is no waiter
	least       int64         // of what the waiters wait for
}

func newLedger(p phase) *ledger {
	l := &ledger{phase: p, runs: make([]run, 0, maxRuns)}
	l.changed.L = &l.mu
	return l
}

func (l *ledger) enter(p phase) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.phase = p
	l.wake()
}

func (l *ledger) now() phase {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.phase
}

// claim gives the caller alone the first part of r that is not claimed. It is empty if there is none, or if the caller
// may not write any more. Each claim that is not empty must be followed by endClaim. Where bytes are being voided,
// claim waits.
func (l *ledger) claim(r byterange.Range, may func() bool) (gap byterange.Range, p phase) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for touches(l.barrier, r) {
		l.changed.Wait()
	}
	if l.phase != writing || !may() {
		return gap, l.phase
	}
	for gap = range l.claimed.Gaps(r) {
		break
	}
	l.claimed.Add(gap)
	return gap, writing
}

// endClaim ends a claim, of which w has been written. It reports whether a run is due for the journal.
func (l *ledger) endClaim(claim byterange.Range, w run) (due bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.claimed.Remove(byterange.Range{Start: w.End, End: claim.End})
	for revoked := range l.barrier.Covered(w.Range) {
		l.claimed.Remove(revoked)
	}
	l.changed.Broadcast()
	if w.Empty() {
		return false
	}
	for kept := range l.barrier.Gaps(w.Range) {
		l.add(kept)
	}
	return !l.unjournaled && l.extend(w)
}

// touches reports whether s has a byte of r.
func touches(s byterange.Set, r byterange.Range) bool {
	for range s.Covered(r) {
		return true
	}
	return false
}

// add makes r done. The caller holds mu.
func (l *ledger) add(r byterange.Range) {
	l.done.Add(r)
	if r.Contains(l.front) {
		l.front = l.done.FirstGap(l.front)
		if l.front > l.least {
			l.wake()
		}
	}
}

// wake wakes all callers of WaitFront. The caller holds mu.
func (l *ledger) wake() {
	if l.moved != nil {
		close(l.moved)
		l.moved = nil
	}
}

// extend puts w into the runs, if possible as a part of one. The caller holds mu.
func (l *ledger) extend(w run) (due bool) {
	i := slices.IndexFunc(l.runs, func(r run) bool { return r.End == w.Start })
	if i < 0 {
		l.runs = append(l.runs, w)
		return w.Len() >= runSize || len(l.runs) >= maxRuns
	}
	l.runs[i].crc = join(l.runs[i].crc, w.crc, w.Len())
	l.runs[i].End = w.End
	return l.runs[i].Len() >= runSize
}

// takeRuns appends to dst the runs that have at least atLeast bytes, or all if they are many. They are the
// caller's then.
func (l *ledger) takeRuns(dst []run, atLeast int64) []run {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.runs) >= maxRuns {
		atLeast = 0
	}
	kept := l.runs[:0]
	for _, r := range l.runs {
		if r.Len() >= atLeast {
			dst = append(dst, r)
		} else {
			kept = append(kept, r)
		}
	}
	l.runs = kept
	return dst
}

// requeue takes runs back that could not be journaled.
func (l *ledger) requeue(rs []run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs = append(l.runs, rs...)
}

// restore makes r done that was written by an earlier run.
func (l *ledger) restore(r byterange.Range) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.claimed.Add(r)
	l.add(r)
}

// revoke ends all claims of r. What is being written there is not done. It cannot be claimed again before release.
func (l *ledger) revoke(r byterange.Range) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.barrier.Add(r)
	for written := range l.done.Covered(r) {
		l.claimed.Remove(written)
	}
	for _, set := range []*byterange.Set{&l.done, &l.syncing, &l.synced} {
		set.Remove(r)
	}
	l.front = l.done.FirstGap(0)
}

// beginSync is called before what is done is put on disk, and endSync when it is there.
func (l *ledger) beginSync() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.syncing = l.done.Clone()
}

func (l *ledger) endSync() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.synced = l.syncing
	l.syncing = byterange.Set{}
}

// revokeUnsynced revokes all that is not on disk for certain.
func (l *ledger) revokeUnsynced() {
	l.mu.Lock()
	synced := l.synced.Clone()
	l.mu.Unlock()
	for gap := range synced.Gaps(byterange.Range{End: math.MaxInt64}) {
		l.revoke(gap)
	}
}

// revoked waits until all writes to revoked bytes have ended, and returns where these bytes are.
func (l *ledger) revoked() byterange.Set {
	l.mu.Lock()
	defer l.mu.Unlock()
	writing := func(r byterange.Range) bool { return touches(l.claimed, r) }
	for slices.ContainsFunc(slices.Collect(l.barrier.All()), writing) {
		l.changed.Wait()
	}
	return l.barrier.Clone()
}

// release lets claim what was revoked and is void on disk now.
func (l *ledger) release(void byterange.Set) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for r := range void.All() {
		l.barrier.Remove(r)
	}
	l.changed.Broadcast()
}

// clear forgets everything.
func (l *ledger) clear(p phase) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.claimed, l.done, l.front, l.runs, l.phase = byterange.Set{}, byterange.Set{}, 0, l.runs[:0], p
	l.syncing, l.synced = byterange.Set{}, byterange.Set{}
	l.wake()
}

func (l *ledger) have() byterange.Set {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.done.Clone()
}

// frontBeyond returns the front and, if it is not beyond past, a channel that is closed when that may have changed. Until
// then it stays open, however often the front moves, so that a caller that waits for much is not woken for little.
func (l *ledger) frontBeyond(past int64) (front int64, moved <-chan struct{}, p phase) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.front > past || l.phase == closed {
		return l.front, nil, l.phase
	}
	if l.moved == nil {
		l.moved, l.least = make(chan struct{}), past
	}
	l.least = min(l.least, past)
	return l.front, l.moved, l.phase
}
