package scheduler

import (
	"iter"
	"time"

	"braid/byterange"
)

const (
	minRange  = 256 << 10 // no request for less, unless no more is left
	firstWant = 1 << 20   // the least for a source of unknown speed

	windowTime = 12 * time.Second // what the sources bring in it may lie ahead of the front
	windowMin  = 64 << 20
	windowMax  = 1 << 30
)

// trialTime: what is missing must last longer for a source to be tried again that fell silent.
const trialTime = 3 * time.Second

// feed gives a source something to do, and tells whether there was anything.
func (s *Scheduler) feed(now time.Time, m *mirror, why Reason) bool {
	if m.norange {
		return s.feedWhole(now, m, why)
	}
	if m.stalled && s.size >= 0 && float64(s.missing()) < trialTime.Seconds()*s.aggregate() {
		return false // the others will be through before a trial could help
	}
	if r := s.gapFor(m); !r.Empty() {
		s.start(now, m, r, false, why)
		return true
	}
	return !m.doubt && s.steal(now, m)
}

// feedWhole uses a source that cannot serve ranges: for everything, and only when nobody else can.
func (s *Scheduler) feedWhole(now time.Time, m *mirror, why Reason) bool {
	if len(s.order) > 0 || s.ranged(m) {
		return false
	}
	s.start(now, m, byterange.Range{}, true, why)
	return true
}

// ranged tells whether another source than m serves ranges, now or later.
func (s *Scheduler) ranged(m *mirror) bool {
	for _, o := range s.sources {
		if o != m && !o.gone && !o.norange && (o.running != nil || o.fails == 0) {
			return true
		}
	}
	return false
}

// window is the part of the file in which ranges are given out. It is bounded so that the in-order
// hash is never far behind the bytes.
func (s *Scheduler) window() byterange.Range {
	from := s.done.FirstGap(0)
	if s.stream {
		from = s.front
	}
	ahead := int64(s.aggregate() * windowTime.Seconds())
	return byterange.Range{Start: from, End: min(s.size, from+min(max(ahead, windowMin), windowMax))}
}

// gaps are the missing parts of r, in order.
func (s *Scheduler) gaps(r byterange.Range) iter.Seq[byterange.Range] {
	return func(yield func(byterange.Range) bool) {
		for g := range s.done.Gaps(r) {
			for h := range s.flying.Gaps(g) {
				if !yield(h) {
					return
				}
			}
		}
	}
}

// gapFor chooses the missing range that m should fetch now; an empty one says that there is none.
func (s *Scheduler) gapFor(m *mirror) byterange.Range {
	w := s.window()
	want, at := s.want(m)
	at += w.Start
	var last byterange.Range
	// A range begins inside of the window. It is not cut at its end: that would make it short.
	for g := range s.gaps(byterange.Range{Start: w.Start, End: min(w.End+want, s.size)}) {
		if g.Start >= w.End {
			break
		}
		last = g
		if g.End > at {
			break
		}
	}
	if last.Empty() {
		return last
	}
	start := last.Start
	if start < at { // leave the beginning to those who are sooner
		start = max(start, min(at, last.End-want))
	}
	if m.align > 1 {
		start -= start % m.align
		start = max(start, last.Start)
	}
	r := byterange.Range{Start: start, End: min(start+want, last.End)}
	if rest := last.End - r.End; rest < min(minRange, want/4) || rest < want/2 && !s.ending() {
		r.End = last.End // no crumbs
	}
	return r
}

// ending tells whether the ranges given out now are the last ones.
func (s *Scheduler) ending() bool {
	return float64(s.missing()) < 2*basePeriod.Seconds()*s.aggregate()
}

// want is how much m should be asked for, and how far from the front: about what it brings in a time
// long enough that the idle round trip between requests does not count, less toward the end so that
// all finish together, and the further ahead the longer it will take.
func (s *Scheduler) want(m *mirror) (size, ahead int64) {
	speed, known := m.speed, m.speed > 0
	if m.doubt { // a trial, where it holds nobody up
		return minRange, int64(s.aggregate() * 2)
	}
	period := m.period()
	all := s.aggregate()
	if !known {
		speed, period = s.guess(), 2*time.Second
	}
	if m.running == nil && !m.open {
		all += speed
	}
	share := float64(s.missing()) * speed / max(all, speed)
	size = int64(min(speed*period.Seconds(), share))
	size = max(size, minRange)
	if !known {
		size = max(size, min(firstWant, s.missing()/2))
		return size, int64(all)
	}
	if late := period - basePeriod; late > 0 {
		ahead = int64(all * late.Seconds())
	}
	return size, ahead
}

// basePeriod is how long a range lasts at a source that is near.
const basePeriod = 8 * time.Second

// period is how long a range of m should last: 100 round trips, so that the one between two requests costs 1 %,
// but no longer than the window.
func (m *mirror) period() time.Duration {
	return min(max(basePeriod, 100*m.rtt), windowTime)
}

// guess is what a source of unknown speed is taken for: the mean of the known ones.
func (s *Scheduler) guess() float64 {
	sum, n := 0.0, 0.0
	for _, m := range s.sources {
		if m.tried && m.speed > 0 {
			sum, n = sum+m.speed, n+1
		}
	}
	if n == 0 {
		return firstWant / 2
	}
	return sum / n
}

// aggregate is the speed of all who are at work, in bytes a second.
func (s *Scheduler) aggregate() float64 {
	sum := 0.0
	for _, m := range s.sources {
		if m.open {
			sum += m.speed
		}
	}
	return sum
}

// reserve is how far ahead of an open fetch the file is kept for it.
func (s *Scheduler) reserve(now time.Time, f *fetch) int64 {
	if f.src.speed > 0 && now.Sub(f.since) > time.Second {
		return max(int64(f.src.speed*f.src.period().Seconds()), minRange)
	}
	return min(max(s.size/8, 4<<20), windowMin/2)
}

// extend moves the reservations of those fetches along that go on to the end of the file by themselves:
// while what lies before them is free it is theirs, up to a bounded distance, and when they meet
// the range of another they end there (S17).
func (s *Scheduler) extend(now time.Time) {
	for _, f := range s.order {
		if !f.open || f.ending {
			continue
		}
		want := min(f.pos+s.reserve(now, f), s.size)
		s.flying.Remove(byterange.Range{Start: want, End: f.end})
		f.end = min(f.end, want)
		for g := range s.gaps(byterange.Range{Start: f.end, End: want}) {
			if g.Start == f.end {
				s.flying.Add(g)
				f.end = g.End
			}
			break
		}
		if f.end < want && !f.src.norange {
			s.meet(f)
		}
	}
}

// meet ends an open fetch at its reservation, as what follows belongs to others.
func (s *Scheduler) meet(f *fetch) {
	if f.left() <= minRange {
		s.shrink(f, f.end, ReasonMet)
	}
}
