package partfile

import (
	"math"
	"slices"
	"sync"

	"braid/byterange"
)

const (
	// runSize is the number of new bytes after which a run is written to the journal.
	runSize = 1 << 20
	// maxRuns is the number of runs after which all runs are written to the journal. More concurrent writers are not
	// expected.
	maxRuns = 64
)

// run is a range of bytes that was written, and its CRC-32C.
type run struct {
	byterange.Range
	crc uint32
}

// phase is the state of a part file. It determines which methods may be called.
type phase uint8

const (
	inherited phase = iota // has bytes of an earlier run that the caller has neither accepted nor discarded
	idle                   // ready for Begin
	writing                // accepts bytes
	closed
)

// ledger records for each byte of a part file whether it is missing, being written or written. It performs no input or
// output. Its methods are safe for concurrent use.
type ledger struct {
	mu          sync.Mutex
	changed     sync.Cond // uses mu; signaled when a claim or the barrier ends
	phase       phase
	unjournaled bool          // without a journal, runs are not collected
	claimed     byterange.Set // written or being written
	done        byterange.Set // written
	front       int64         // first byte that is not in done
	barrier     byterange.Set // revoked, but not yet void on disk; cannot be claimed
	syncing     byterange.Set // was in done when the current sync began, and not revoked since
	synced      byterange.Set // synced, and not revoked since
	runs        []run         // in done but not in the journal
	moved       chan struct{} // closed when front passes least or the phase changes; nil without waiters
	least       int64         // the lowest front that a waiter waits for
}

func newLedger(p phase) *ledger {
	l := &ledger{phase: p}
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

// claim reserves the first unclaimed part of r for the caller. It returns an empty range if all of r is claimed or may
// returns false. It blocks while bytes of r are being voided. If the range is not empty, the caller must call endClaim.
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

// endClaim ends a claim. w is the written part of the claim. It reports whether a run is long enough for the journal.
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

// touches reports whether s contains a byte of r.
func touches(s byterange.Set, r byterange.Range) bool {
	for range s.Covered(r) {
		return true
	}
	return false
}

// add marks r as written. The caller holds mu.
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

// extend adds w to the runs. It joins w to the run that ends where w begins, if any. It reports whether runs should be
// journaled. The caller holds mu.
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

// takeRuns removes the runs of at least atLeast bytes and appends them to dst. With maxRuns runs or more, it takes all runs.
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

// requeue adds runs again that could not be journaled.
func (l *ledger) requeue(rs []run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs = append(l.runs, rs...)
}

// restore marks r, which an earlier run wrote, as written.
func (l *ledger) restore(r byterange.Range) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.claimed.Add(r)
	l.add(r)
}

// revoke removes r from the written bytes. A pending write to r is ignored. r cannot be claimed again before the call
// of release.
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

// beginSync is called before the written bytes are synced, and endSync afterwards.
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

// revokeUnsynced revokes all bytes that may not be on disk.
func (l *ledger) revokeUnsynced() {
	l.mu.Lock()
	synced := l.synced.Clone()
	l.mu.Unlock()
	for gap := range synced.Gaps(byterange.Range{End: math.MaxInt64}) {
		l.revoke(gap)
	}
}

// revoked blocks until all pending writes to revoked bytes have ended, and returns the revoked ranges.
func (l *ledger) revoked() byterange.Set {
	l.mu.Lock()
	defer l.mu.Unlock()
	writing := func(r byterange.Range) bool { return touches(l.claimed, r) }
	for slices.ContainsFunc(slices.Collect(l.barrier.All()), writing) {
		l.changed.Wait()
	}
	return l.barrier.Clone()
}

// release allows the ranges in void, which were revoked and are recorded as void, to be claimed again.
func (l *ledger) release(void byterange.Set) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for r := range void.All() {
		l.barrier.Remove(r)
	}
	l.changed.Broadcast()
}

// clear removes all bytes and enters phase p.
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

// frontBeyond returns the front. If the front is not beyond past, it also returns a channel that is closed when the
// front may have moved beyond past. The channel stays open while the front only moves below past, so that not every
// write wakes a waiter.
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
