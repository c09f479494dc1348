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
	windowMin  = 128 << 20
	windowMax  = 1 << 30
)

// trialTime: what is missing must last longer for a source to be tried again that fell silent.
const trialTime = 3 * time.Second

// feed gives a source something to do, and tells whether there was anything.
func (s *Scheduler) feed(now time.Time, m *mirror, why Reason) bool {
	if m.norange {
		return s.feedWhole(now, m, why)
	}
	if m.stalled && s.size >= 0 && len(s.order) > 0 && s.remaining() < trialTime {
		return false // the others will be through before a trial could help
	}
	if s.repair(now, m) || !m.doubt && s.hurry(now, m, why) {
		return true
	}
	if r := s.gapFor(now, m); !r.Empty() {
		s.start(now, m, r, false, why)
		return true
	}
	return s.steal(now, m, why)
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
		if o != m && !o.gone && !o.norange && !o.crawler && (o.running != nil || o.fails == 0) {
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
				for i := range s.outsideMixed(h) {
					if !yield(i) {
						return
					}
				}
			}
		}
	}
}

// gapFor chooses the missing range that m should fetch now; an empty one says that there is none.
func (s *Scheduler) gapFor(now time.Time, m *mirror) byterange.Range {
	w := s.window()
	want, at := s.want(now, m)
	if want == 0 {
		return byterange.Range{}
	}
	at += w.Start
	last := s.gapAt(w, at, want, max(min(want/2, int64(fewLags*s.lag(m, m.speed, m.alive)*m.speed)), s.leastOf(m)))
	if last.Empty() && s.takesCrumbs(now, m) {
		last = s.gapAt(w, at, want, 0)
	}
	if last.Empty() {
		return last
	}
	start := last.Start
	if start < at { // leave the beginning to those who are sooner
		start = max(start, min(at, last.End-want))
	}
	if start-last.Start < s.cfg.MinSplit {
		start = last.Start
	}
	if m.unit.whole() {
		return s.units(m, last, start, want)
	}
	start = s.toPiece(start, last.End)
	r := byterange.Range{Start: start, End: s.toPiece(min(start+want, last.End), last.End)}
	if rest := last.End - r.End; rest < min(minRange, max(minSteal, want/4)) || rest < want/2 && !s.ending() || rest < s.cfg.MinSplit {
		r.End = last.End // no crumbs
	}
	return r
}

// gapAt is the missing range in the window w at or after at, else the last one before; those shorter than least are
// left to sources for which they are worth a request.
func (s *Scheduler) gapAt(w byterange.Range, at, want, least int64) (last byterange.Range) {
	// A range begins inside of the window. It is not cut at its end: that would make it short.
	for g := range s.gaps(byterange.Range{Start: w.Start, End: min(w.End+want, s.size)}) {
		if g.Start >= w.End {
			break
		}
		if g.Len() < least || s.awaited(g) {
			continue
		}
		last = g
		if g.End > at {
			break
		}
	}
	return last
}

// awaited says that a missing range is less than the user wants to split off, and that the fetch before it goes on to it by itself.
func (s *Scheduler) awaited(g byterange.Range) bool {
	if g.Len() >= s.cfg.MinSplit {
		return false
	}
	for _, f := range s.order {
		if f.open && !f.ending && f.end == g.Start {
			return true
		}
	}
	return false
}

// Toward the end a source gets lastShare of its part, and the rest when it is through with that, as long as a request
// costs less than one part in manyLags of what is left.
const (
	lastShare = 0.9
	manyLags  = 80
	fewLags   = 10 // a missing range that lasts so long is worth a request
)

// remaining is how long the rest takes at the present speed.
func (s *Scheduler) remaining() time.Duration {
	return time.Duration(min(float64(s.missing())/max(s.aggregate(), 1), maxSeconds) * float64(time.Second))
}

// maxSeconds keeps durations within their type.
const maxSeconds = 1e9

// ending tells whether the ranges given out now are the last ones.
func (s *Scheduler) ending() bool {
	return s.remaining() < 2*windowTime
}

// want is how much m should be asked for, and how far from the front: about what it brings in a time
// long enough that the idle round trip between requests does not count, less toward the end so that
// all finish together, and the further ahead the longer it will take.
func (s *Scheduler) want(now time.Time, m *mirror) (size, ahead int64) {
	speed, known := m.speed, m.speed > 0
	if m.doubt { // a trial, where it holds nobody up
		return minRange, int64(s.aggregate() * 2)
	}
	period := windowTime
	all := s.aggregate()
	if !known {
		speed, period = s.guess(), 2*time.Second
	}
	if m.running == nil && !m.open {
		all += speed
	}
	if m.unit.whole() && s.lone(now, m) { // between two ranges a swarm comes to a stop, and there is nobody to leave anything to
		return min(s.missing(), windowMax), 0
	}
	if !known {
		return max(int64(speed*period.Seconds()), min(firstWant, s.missing()/2), s.share(), s.cfg.MinSplit), int64(all)
	}
	size = int64(min(max(speed*period.Seconds(), minRange), s.part(m, speed)))
	if size < minSteal { // by then the others are through
		if !s.idles(now, m, float64(min(s.missing(), minRange))) {
			return 0, 0
		}
		size = minRange
	}
	size = max(size, s.cfg.MinSplit)
	if float64(size) < trifle*all && s.sooner(now, m, float64(size)) {
		return 0, 0
	}
	return size, 0
}

// trifle is how many seconds of all sources are not worth a request to a source that is slow to bring it.
const trifle = 0.01

// sooner tells whether a source that is at work will bring n bytes sooner than m, which is free, when it is through with
// its own.
func (s *Scheduler) sooner(now time.Time, m *mirror, n float64) bool {
	ours := s.lag(m, m.speed, m.alive) + n/m.speed
	for _, f := range s.order {
		if o := f.src; !f.ending && f.got > 0 && !o.norange && o.speed > 0 &&
			s.eta(now, f)+s.lag(o, o.speed, !f.cut)+n/o.speed < ours {
			return true
		}
	}
	return false
}

// part is what a source can bring of what is left before the others are through with the rest, in bytes.
func (s *Scheduler) part(m *mirror, speed float64) float64 {
	end, lag := s.horizon(m), s.lag(m, speed, m.alive)
	part := speed * (end - lag)
	// A further request costs little, and what is known of the speeds gets better, all the more if it is from hearsay.
	if m.meter.total == 0 || end > manyLags*s.lag(m, speed, true) {
		part *= lastShare
	}
	return part
}

// share is what a source of unknown speed is asked for at least: an equal part of a third of the file, as far as the
// window has room for all. If that is too much for it, the rest is taken from it when its speed is known.
func (s *Scheduler) share() int64 {
	n := 1
	for _, m := range s.sources {
		if !m.gone && !m.norange && (m.open || !m.last) {
			n++
		}
	}
	n = min(n, s.cfg.Split)
	return min(s.size/int64(3*n), windowMin/int64(n+1))
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
		period, least := windowTime, int64(minRange)
		if f.src.norange { // it cannot be made to stop there without loss, however slow it gets
			least = 0
		}
		return max(int64(f.src.speed*period.Seconds()), least, s.cfg.MinSplit)
	}
	return max(2*s.share(), 4<<20, s.cfg.MinSplit)
}

// extend moves the reservations of those fetches along that go on to the end of the file by themselves:
// while what lies before them is free it is theirs, up to a bounded distance, and when they meet
// the range of another they end there (S17).
func (s *Scheduler) extend(now time.Time) {
	for _, f := range s.order {
		if !f.open || f.ending {
			continue
		}
		reserve := s.reserve(now, f)
		want := min(f.pos+reserve, s.size)
		if f.end > want+reserve/4 { // not for every change of speed
			s.flying.Remove(byterange.Range{Start: want, End: f.end})
			f.end = want
		}
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
