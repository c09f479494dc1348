package scheduler

import (
	"cmp"
	"iter"
	"time"

	"braid/byterange"
)

const (
	minRange  = 256 << 10 // smallest range of a request, unless less is missing
	minSteal  = 32 << 10  // smallest range of a request at all, while no mirror fails
	firstWant = 1 << 20   // smallest range for a mirror of unknown speed

	windowTime = 12 * time.Second // the window has the bytes that all mirrors deliver in this time
	windowMin  = 128 << 20
	windowMax  = 1 << 30

	// At first, a mirror gets only lastShare of its part of the missing bytes, if the remaining time is more than
	// manyLags times the lag of a request.
	lastShare = 0.9
	manyLags  = 80
	fewLags   = 10 // a missing range that takes this many lags is worth a request

	urgentTime = 1.0 // in seconds: safety margin before a deadline

	// trifle is a time in seconds. A range that all mirrors together deliver in less time is not requested from a
	// mirror that would deliver it later than another mirror.
	trifle = 0.01
)

// assignment chooses the missing range that a mirror fetches next. It reads the state of the other parts, and changes
// only the reservations of fetches to the end of the file.
type assignment struct {
	cfg       Config
	clock     *clock
	mirrors   *mirrors
	ranges    *ranges
	requests  *requests
	pieces    *pieces
	estimates *estimates
}

// window returns the part of the file in which ranges are assigned. It is bounded so that the in-order hash stays close
// to the received bytes.
func (a *assignment) window() byterange.Range {
	from, ahead := a.ranges.front(), int64(a.mirrors.aggregate()*windowTime.Seconds())
	most := cmp.Or(a.cfg.Window, windowMax)
	return byterange.Range{Start: from, End: min(a.ranges.size, from+min(max(ahead, windowMin), most))}
}

// gaps yields the missing parts of r, in order. It omits disputed pieces: only one mirror fetches such a piece.
func (a *assignment) gaps(r byterange.Range) iter.Seq[byterange.Range] {
	return func(yield func(byterange.Range) bool) {
		for gap := range a.ranges.gaps(r) {
			for part := range a.pieces.outside(gap) {
				if !yield(part) {
					return
				}
			}
		}
	}
}

// gapFor returns the missing range that m should fetch now, or an empty range.
func (a *assignment) gapFor(m *mirror) byterange.Range {
	in := a.window()
	want, at := a.want(m)
	if want == 0 {
		return byterange.Range{}
	}
	at += in.Start
	worth := min(want/2, int64(fewLags*a.estimates.lag(m, m.speed, m.alive)*m.speed))
	gap := a.urgent(in, m)
	if gap.Empty() {
		gap = a.gapAt(in, at, want, max(worth, m.align.length/2))
	}
	// Otherwise m gets a short gap. A mirror of whole pieces gets it only if it is the only usable one, or if no
	// request is running.
	if gap.Empty() && (!m.align.whole() || a.mirrors.lone(m, a.clock.now) || a.requests.len() == 0) {
		gap = a.gapAt(in, at, want, 0)
	}
	if gap.Empty() && a.ranges.consumed < 0 { // beyond the window: far ahead of a blocked front is better than being idle
		gap = a.gapAt(byterange.Range{Start: in.Start, End: min(a.ranges.size, in.Start+windowMax)}, at, want, 0)
	}
	if gap.Empty() {
		return gap
	}
	start := gap.Start
	if start < at { // leave the start to mirrors that deliver it sooner
		start = max(start, min(at, gap.End-want))
	}
	if a.goesOn(gap) { // take the end of the gap: the other connection is closed where it meets this range
		start = max(start, gap.End-want)
	}
	if start-gap.Start < a.cfg.MinSplit {
		start = gap.Start
	}
	if m.align.whole() {
		return m.align.within(gap, start, want)
	}
	start = a.pieces.next(start, gap.End)
	r := byterange.Range{Start: start, End: a.pieces.next(min(start+want, gap.End), gap.End)}
	if rest := gap.End - r.End; rest < min(minRange, max(minSteal, want/4)) || rest < want/2 &&
		a.estimates.remaining() >= 2*windowTime || rest < a.cfg.MinSplit {
		r.End = gap.End // leave no short rest
	}
	if a.cfg.Window > 0 {
		r.End = min(r.End, max(in.End+a.cfg.Window/4, r.Start+minRange))
	}
	return r
}

// goesOn reports whether a fetch to the end of the file continues into gap by itself and the order of bytes does not
// matter. It does not matter if no reader consumes the bytes and hashing the missing bytes takes only a moment.
func (a *assignment) goesOn(gap byterange.Range) bool {
	if a.ranges.consumed >= 0 || a.ranges.missing() > hashSlack {
		return false
	}
	return a.continued(gap.Start)
}

// urgent returns the first missing range, however short, if m should fetch it now; otherwise an empty range. If an
// urgent range came later, the in-order hash would not be done when the last byte arrives.
func (a *assignment) urgent(in byterange.Range, m *mirror) byterange.Range {
	gap := a.gapAt(in, in.Start, 0, 0)
	if gap.Empty() || m.align.whole() || m.speed == 0 || a.ranges.size-gap.End < hashSlack {
		return byterange.Range{}
	}
	if a.estimates.lag(m, m.speed, m.alive)+float64(gap.Len())/m.speed < a.estimates.dueAt(gap.End)-urgentTime {
		return byterange.Range{}
	}
	return gap
}

// gapAt returns the first missing range in the window that extends beyond at, or otherwise the last missing range
// before at. It skips ranges shorter than least, which may be worth a request to another mirror.
func (a *assignment) gapAt(window byterange.Range, at, want, least int64) (last byterange.Range) {
	// A gap that begins in the window may extend beyond the end of the window. If cut off there, it might be too short.
	for g := range a.gaps(byterange.Range{Start: window.Start, End: min(window.End+want, a.ranges.size)}) {
		if g.Start >= window.End {
			break
		}
		if g.Len() < least || a.awaited(g) {
			continue
		}
		last = g
		if g.End > at {
			break
		}
	}
	return last
}

// awaited reports whether g, a missing range, is shorter than MinSplit and the preceding fetch continues into it by itself.
func (a *assignment) awaited(g byterange.Range) bool {
	if g.Len() >= a.cfg.MinSplit {
		return false
	}
	return a.continued(g.Start)
}

// continued reports whether a fetch to the end of the file continues at off by itself.
func (a *assignment) continued(off int64) bool {
	for f := range a.requests.active() {
		if f.toEnd && f.end == off {
			return true
		}
	}
	return false
}

// want returns how many bytes to request from m (size), and their preferred distance in bytes from the front (ahead).
// The size is chosen so that the idle round trip between two requests is negligible. Toward the end the size is
// smaller, so that all mirrors finish together. The distance keeps mirrors of unknown speed away from the front.
func (a *assignment) want(m *mirror) (size, ahead int64) {
	all := a.mirrors.aggregate()
	if m.doubtful() { // a trial, where it blocks no other mirror
		return minRange, int64(all * 2)
	}
	speed, period := a.mirrors.speedOf(m), windowTime
	if m.running == nil && !m.open() {
		all += speed
	}
	missing := a.ranges.missing()
	switch {
	case m.align.whole() && a.mirrors.lone(m, a.clock.now): // a swarm pauses between ranges; no other mirror needs a part
		return min(missing, windowMax), 0
	case m.speed == 0:
		period = 2 * time.Second
		return max(int64(speed*period.Seconds()), min(firstWant, missing/2), a.share(), a.cfg.MinSplit), int64(all)
	}
	size = int64(min(max(speed*period.Seconds(), minRange), a.part(m, speed)))
	if size < minSteal { // the other mirrors finish before m could deliver that much
		if !a.estimates.idles(m, float64(min(missing, minRange))) {
			return 0, 0
		}
		size = minRange
	}
	size = max(a.turn(size, speed), a.cfg.MinSplit)
	if float64(size) < trifle*all && a.estimates.sooner(m, float64(size)) {
		return 0, 0
	}
	return size, 0
}

// turn limits the size of a range to the mirror's part of a small window (Config.Window). A longer range would leave no
// part of the window to other mirrors.
func (a *assignment) turn(size int64, speed float64) int64 {
	if a.cfg.Window == 0 || speed == 0 {
		return size
	}
	return min(size, max(minRange, int64(float64(a.cfg.Window)*speed/max(speed, a.mirrors.aggregate()))))
}

// part returns how many of the missing bytes m can deliver before the other mirrors finish the rest.
func (a *assignment) part(m *mirror, speed float64) float64 {
	end, lag := a.estimates.horizon(m), a.estimates.lag(m, speed, m.alive)
	part := speed * (end - lag)
	// A later request for the rest is cheap, and speeds are better known by then, in particular a speed that is only
	// remembered from an earlier download.
	if m.meter.total == 0 || end > manyLags*a.estimates.lag(m, speed, true) {
		part *= lastShare
	}
	return part
}

// share returns the minimum number of bytes to request from a mirror of unknown speed: an equal part of a third of the
// file, limited so that all such parts fit in the window. If that is too much, the rest is taken from the mirror when
// its speed is known.
func (a *assignment) share() int64 {
	useful := count(*a.mirrors, func(m *mirror) bool { return !m.gone() && !m.noRanges && (m.open() || !m.last) })
	n := min(useful+1, a.cfg.Split)
	return min(a.ranges.size/int64(3*n), windowMin/int64(n+1))
}

// reach returns how many bytes ahead of f, a fetch to the end of the file, are reserved for f.
func (a *assignment) reach(f *fetch) int64 {
	if f.src.speed > 0 && f.src.flows(a.clock.now, max(time.Second, warmTrips*f.src.rtt)) {
		period, least := windowTime, int64(minRange)
		if a.ranges.missing() <= hashSlack { // see goesOn
			period = min(period, a.estimates.remaining()/2)
		}
		if f.src.noRanges { // stopping the fetch would lose its bytes, even if the mirror is slow
			least = 0
		}
		return a.turn(max(int64(f.src.speed*period.Seconds()), least, a.cfg.MinSplit), f.src.speed)
	}
	return max(2*a.share(), 4<<20, a.cfg.MinSplit)
}

// extend moves the reservations of fetches to the end of the file: missing bytes ahead of such a fetch are reserved for
// it, up to a bounded distance. A fetch that meets the range of another fetch is ended there.
func (a *assignment) extend() {
	for f := range a.requests.active() {
		if !f.toEnd {
			continue
		}
		reach := a.reach(f)
		want := min(f.pos+reach, a.ranges.size)
		if f.end > want+reach/4 { // tolerate small changes of speed
			a.requests.lower(f, want)
		}
		for g := range a.gaps(byterange.Range{Start: f.end, End: want}) {
			if g.Start == f.end {
				a.requests.extend(f, g.End)
			}
			break
		}
		if f.end < want && !f.src.noRanges && f.left() <= minRange { // the following bytes are reserved by other fetches
			a.requests.shrink(f, f.end, ReasonMet)
		}
	}
}
