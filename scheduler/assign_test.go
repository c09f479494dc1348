package scheduler

import (
	"testing"

	"braid/byterange"
)

// allotting returns the assignment of a file of a given size to mirrors.
func allotting(size int64, cfg Config, ms ...*mirror) *assignment {
	cfg = cfg.withDefaults()
	q, g, _ := newRequests(size)
	all := mirrors(ms)
	e := &estimates{clock: q.clock, mirrors: &all, ranges: g, requests: q}
	return &assignment{cfg: cfg, clock: q.clock, mirrors: &all, ranges: g, requests: q, pieces: &pieces{}, estimates: e}
}

// A range has about the bytes that its mirror delivers in windowTime, and the next one follows it.
func TestGapForASpeed(t *testing.T) {
	a, b := far(1<<20, 40*ms), far(4<<20, 40*ms)
	w := allotting(4*gib, Config{}, a, b)
	first := w.gapFor(a)
	if first.Start != 0 || first.Len() != int64(windowTime.Seconds())<<20 {
		t.Errorf("the slow mirror gets %v", first)
	}
	w.requests.start(a, first, false, ReasonNext)
	if second := w.gapFor(b); second.Start != first.End || second.Len() != 4*first.Len() {
		t.Errorf("the fast mirror gets %v after %v", second, first)
	}
}

// All parts of a file that is almost done end together, and nobody gets bytes that others deliver sooner.
func TestGapForTheEnd(t *testing.T) {
	a, b := far(1<<20, 40*ms), far(3<<20, 40*ms)
	a.alive, b.alive = true, true
	w := allotting(8*mib, Config{}, a, b)
	w.requests.start(b, w.gapFor(b), false, ReasonNext)
	w.requests.start(a, w.gapFor(a), false, ReasonNext)
	slow, fast := float64(a.running.left())/a.speed, float64(b.running.left())/b.speed
	if slow/fast < 0.8 || slow/fast > 1.25 {
		t.Errorf("they need %.2f and %.2f s", slow, fast)
	}
}

// Nothing is assigned beyond the window of a slow reader, and no part is shorter than MinSplit.
func TestGapForLimits(t *testing.T) {
	m := far(1<<20, 40*ms)
	w := allotting(gib, Config{Window: 4 * mib}, m)
	w.ranges.consume(0)
	if r := w.gapFor(m); r.End > 5*mib || r.Empty() {
		t.Errorf("the window ends at 4 MiB, and %v is assigned", r)
	}
	w.ranges.gain(byterange.Range{Start: 0, End: 4 * mib}, nil)
	if r := w.gapFor(m); !r.Empty() {
		t.Errorf("the window is full, and %v is assigned", r)
	}
	w = allotting(gib, Config{MinSplit: 100 * mib}, m)
	if r := w.gapFor(m); r.Len() != 100*mib {
		t.Errorf("%v is shorter or longer than MinSplit", r)
	}
}

// The reservation of a fetch to the end of the file moves ahead of it. It ends where it meets another one.
func TestExtend(t *testing.T) {
	whole, other := far(1<<20, 40*ms), far(1<<20, 40*ms)
	w := allotting(gib, Config{}, whole, other)
	w.requests.start(whole, byterange.Range{}, true, ReasonFirst)
	f := whole.running
	w.extend()
	if f.end <= 0 || !w.ranges.reserved.Contains(byterange.Range{Start: 0, End: f.end}) || !f.toEnd {
		t.Fatalf("reserved are %v", w.ranges.reserved.String())
	}
	w.requests.start(other, byterange.Range{Start: f.end, End: f.end + mib}, false, ReasonNext)
	met := f.end
	w.ranges.gain(byterange.Range{Start: 0, End: met - 1}, nil)
	f.advance(met - 1)
	if w.extend(); f.toEnd || f.end != met {
		t.Errorf("it goes on to %d, and another one begins at %d", f.end, met)
	}
	if w.continued(met) {
		t.Error("it was ended there, and goes on")
	}
}
