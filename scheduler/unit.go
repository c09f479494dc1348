package scheduler

import (
	"time"

	"braid/byterange"
)

// A unit is how a source gives its bytes: any of them, in order, or whole pieces of its own, in any order. What is asked for
// of a piece costs all of it, so ranges of such a source begin and end where its pieces do, as far as they can.
type unit struct{ length, lead int64 }

func newUnit(length, lead int64) unit { return unit{max(length, 1), lead} }

// whole says that bytes come in pieces.
func (u unit) whole() bool { return u.length > 1 }

// up is the first boundary at or after off.
func (u unit) up(off int64) int64 {
	if rest := (off - u.lead) % u.length; rest > 0 {
		return off + u.length - rest
	}
	return off
}

// down is the last boundary at or before off, but not below 0.
func (u unit) down(off int64) int64 { return max(off-(off-u.lead)%u.length, 0) }

// coming takes note of bytes of pieces that are not complete yet.
func (s *Scheduler) coming(now time.Time, ev Coming) {
	f := s.fetches[ev.Fetch]
	if f == nil || f.src.liar {
		return
	}
	f.came = max(f.came+ev.N, 0)
	if ev.N <= 0 {
		return
	}
	f.heard = now
	f.got += ev.N
	f.src.meter.add(now, ev.N)
}

// unitCame books bytes of a piece that is complete. What came of it was counted when it came.
func (s *Scheduler) unitCame(f *fetch, r byterange.Range, fresh int64) bool {
	f.came = max(f.came-r.Len(), 0)
	if fresh > 0 {
		f.src.fails, f.src.doubt, f.src.stalled = 0, false, false
	}
	if !f.ending {
		f.pos = max(f.pos, min(s.done.FirstGap(f.pos), f.end))
		s.countBehind(f)
	}
	return false
}

// countBehind counts what is here between the first byte that a fetch has to bring and its end.
func (s *Scheduler) countBehind(f *fetch) {
	f.behind = 0
	if !f.src.unit.whole() {
		return
	}
	for r := range s.done.Covered(byterange.Range{Start: f.pos, End: f.end}) {
		f.behind += r.Len()
	}
}

// leastOf is the shortest gap that is worth asking m for, while others could fill it: half a piece.
func (s *Scheduler) leastOf(m *mirror) int64 {
	if m.unit.whole() {
		return m.unit.length / 2
	}
	return 0
}

// takesCrumbs says that m may be asked for less than is worth it: any source but one of pieces that has others beside it.
func (s *Scheduler) takesCrumbs(now time.Time, m *mirror) bool {
	return !m.unit.whole() || s.lone(now, m)
}

// lone says that m has none beside it but others that give pieces.
func (s *Scheduler) lone(now time.Time, m *mirror) bool {
	for _, o := range s.sources {
		if o != m && !o.norange && s.usable(now, o) && !o.unit.whole() {
			return false
		}
	}
	return true
}

// units is about want bytes of gap from start on, as pieces of m: one at least, and no part of one if that can be left to others.
func (s *Scheduler) units(m *mirror, gap byterange.Range, start, want int64) byterange.Range {
	start = max(m.unit.down(start), gap.Start)
	end := min(max(m.unit.up(start+want), m.unit.up(start+1)), gap.End)
	if rest := gap.End - end; rest < m.unit.length/2 {
		end = gap.End
	}
	return byterange.Range{Start: start, End: end}
}

// splitAt is where a range of f can be cut for m, near off: where a piece of m or of f begins. When that leaves nothing,
// m takes all of what f has left, if f would need more than twice as long. 0 says that nothing is to be gained.
func (s *Scheduler) splitAt(now time.Time, f *fetch, m *mirror, off int64) int64 {
	if !f.src.unit.whole() && !m.unit.whole() {
		return s.toPiece(off, f.end)
	}
	off = m.unit.up(f.src.unit.up(off))
	if off+m.unit.length/2 < f.end {
		return off
	}
	speed := m.speed
	if speed == 0 {
		speed = s.guess()
	}
	ours := s.lag(m, speed, m.alive) + float64(f.end-f.pos)/max(speed, 1)
	if m.unit.whole() || s.eta(now, f) < max(2*ours, 1) {
		return 0
	}
	return f.pos
}

// expandLast opens a source that is the last resort beside those that growth has found, unless that, or a trial, has shown that
// they fill the link.
func (s *Scheduler) expandLast(now time.Time) []*mirror {
	if s.growth.measuring || s.growth.full || s.trim.running || s.trim.sure || s.opened()+s.leaving() >= s.growth.most {
		return nil
	}
	m := s.candidate(now)
	if m == nil || !m.last || !s.worthwhile(now) || !s.feed(now, m, opening(m)) {
		return nil
	}
	return []*mirror{m}
}

// lastTime is how long the rest takes at least for a source to be used that is the last resort, beside others.
const lastTime = 10 * time.Second

// lastResort says that m, which is to be used last, may be used now: the others have been at work for long enough to see that
// they are slow, or there is nobody else.
func (s *Scheduler) lastResort(now time.Time, m *mirror) bool {
	if s.opened()+s.leaving() == 0 {
		for _, o := range s.sources {
			if o != m && !o.last && !o.gone && s.usable(now, o) {
				return false
			}
		}
		return true
	}
	return s.flowing(now) && s.remaining() > lastTime
}
