package scheduler

import (
	"cmp"
	"iter"
	"slices"
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

	// Toward the end, a mirror gets lastShare of its part, and the rest after that. This applies as long as the
	// remaining time is more than manyLags times the cost of a request.
	lastShare = 0.9
	manyLags  = 80
	fewLags   = 10 // a missing range that takes this many lags is worth a request

	urgentTime = 1.0 // safety margin of a deadline in seconds

	// trifle is the time in seconds of all mirrors together below which a range is not worth a request to a mirror that
	// would be later than others.
	trifle = 0.01
)

// window returns the part of the file in which ranges are assigned. It is bounded so that the in-order hash stays close
// to the received bytes.
func (w *work) window() byterange.Range {
	from, ahead := w.ranges.front(), int64(w.mirrors.aggregate()*windowTime.Seconds())
	most := cmp.Or(w.cfg.Window, windowMax)
	return byterange.Range{Start: from, End: min(w.ranges.size, from+min(max(ahead, windowMin), most))}
}

// gaps yields the missing parts of r, in order, that several mirrors may fetch.
func (w *work) gaps(r byterange.Range) iter.Seq[byterange.Range] {
	return func(yield func(byterange.Range) bool) {
		for gap := range w.ranges.gaps(r) {
			for part := range w.pieces.outside(gap) {
				if !yield(part) {
					return
				}
			}
		}
	}
}

// gapFor returns the missing range that m should fetch now, or an empty range.
func (w *work) gapFor(m *mirror) byterange.Range {
	in := w.window()
	want, at := w.want(m)
	if want == 0 {
		return byterange.Range{}
	}
	at += in.Start
	worth := min(want/2, int64(fewLags*w.lag(m, m.speed, m.alive)*m.speed))
	gap := w.urgent(in, m)
	if gap.Empty() {
		gap = w.gapAt(in, at, want, max(worth, m.align.length/2))
	}
	// Short gaps. A mirror that delivers whole pieces gets them only if no other mirror is usable or none is working.
	if gap.Empty() && (!m.align.whole() || w.lone(m) || len(w.running) == 0) {
		gap = w.gapAt(in, at, want, 0)
	}
	if gap.Empty() && w.ranges.consumed < 0 { // beyond the window: better far ahead of a blocked front than idle
		gap = w.gapAt(byterange.Range{Start: in.Start, End: min(w.ranges.size, in.Start+windowMax)}, at, want, 0)
	}
	if gap.Empty() {
		return gap
	}
	start := gap.Start
	if start < at { // leave the start to mirrors that deliver it sooner
		start = max(start, min(at, gap.End-want))
	}
	if w.goesOn(gap) { // from the end: that connection is closed where it meets this range
		start = max(start, gap.End-want)
	}
	if start-gap.Start < w.cfg.MinSplit {
		start = gap.Start
	}
	if m.align.whole() {
		return m.align.within(gap, start, want)
	}
	start = w.pieces.next(start, gap.End)
	r := byterange.Range{Start: start, End: w.pieces.next(min(start+want, gap.End), gap.End)}
	if rest := gap.End - r.End; rest < min(minRange, max(minSteal, want/4)) || rest < want/2 &&
		w.remaining() >= 2*windowTime || rest < w.cfg.MinSplit {
		r.End = gap.End // leave no short rest
	}
	if w.cfg.Window > 0 {
		r.End = min(r.End, max(in.End+w.cfg.Window/4, r.Start+minRange))
	}
	return r
}

// goesOn reports whether a fetch to the end of the file would continue into a missing range by itself, while the order
// of bytes is not important: so few bytes are missing that hashing them takes only a moment.
func (w *work) goesOn(gap byterange.Range) bool {
	if w.ranges.consumed >= 0 || w.ranges.missing() > hashSlack {
		return false
	}
	return slices.ContainsFunc(w.running, func(f *fetch) bool { return f.toEnd && !f.ending && f.end == gap.Start })
}

// urgent returns the first missing range if m should fetch it now, however short it is, because otherwise the
// in-order hash of the bytes behind it would not be done when the last byte arrives. If it is not urgent, the
// result is an empty range.
func (w *work) urgent(in byterange.Range, m *mirror) byterange.Range {
	gap := w.gapAt(in, in.Start, 0, 0)
	if gap.Empty() || m.align.whole() || m.speed == 0 || w.ranges.size-gap.End < hashSlack {
		return byterange.Range{}
	}
	if w.lag(m, m.speed, m.alive)+float64(gap.Len())/m.speed < w.dueAt(gap.End)-urgentTime {
		return byterange.Range{}
	}
	return gap
}

// gapAt returns the first missing range in the window that extends beyond at, or otherwise the last one
// before at. It skips ranges shorter than least: another mirror may find them worth a request.
func (w *work) gapAt(window byterange.Range, at, want, least int64) (last byterange.Range) {
	// A gap that begins in the window is considered beyond the end of the window. Cutting it there would make it too
	// short.
	for g := range w.gaps(byterange.Range{Start: window.Start, End: min(window.End+want, w.ranges.size)}) {
		if g.Start >= window.End {
			break
		}
		if g.Len() < least || w.awaited(g) {
			continue
		}
		last = g
		if g.End > at {
			break
		}
	}
	return last
}

// awaited reports whether a missing range is shorter than MinSplit and the preceding fetch continues into it by itself.
func (w *work) awaited(g byterange.Range) bool {
	if g.Len() >= w.cfg.MinSplit {
		return false
	}
	return slices.ContainsFunc(w.running, func(f *fetch) bool { return f.toEnd && !f.ending && f.end == g.Start })
}

// want returns how many bytes m should be asked for, and how far from the front. The size is chosen so that
// the idle round trip between two requests is negligible. Toward the end it is smaller, so that all mirrors
// finish together. The distance is larger the longer the fetch will take.
func (w *work) want(m *mirror) (size, ahead int64) {
	all := w.mirrors.aggregate()
	if m.doubtful() { // a trial, at a place where it blocks no other
		return minRange, int64(all * 2)
	}
	speed, period := w.mirrors.speedOf(m), windowTime
	if m.running == nil && !m.open() {
		all += speed
	}
	missing := w.ranges.missing()
	switch {
	case m.align.whole() && w.lone(m): // a swarm pauses between two ranges, and no other mirror needs a part
		return min(missing, windowMax), 0
	case m.speed == 0:
		period = 2 * time.Second
		return max(int64(speed*period.Seconds()), min(firstWant, missing/2), w.share(), w.cfg.MinSplit), int64(all)
	}
	size = int64(min(max(speed*period.Seconds(), minRange), w.part(m, speed)))
	if size < minSteal { // the other mirrors finish before m could deliver that much
		if !w.idles(m, float64(min(missing, minRange))) {
			return 0, 0
		}
		size = minRange
	}
	size = max(w.turn(size, speed), w.cfg.MinSplit)
	if float64(size) < trifle*all && w.sooner(m, float64(size)) {
		return 0, 0
	}
	return size, 0
}

// turn limits a range to the mirror's part of a small window. A longer range would leave no room for the next range of
// another mirror.
func (w *work) turn(size int64, speed float64) int64 {
	if w.cfg.Window == 0 || speed == 0 {
		return size
	}
	return min(size, max(minRange, int64(float64(w.cfg.Window)*speed/max(speed, w.mirrors.aggregate()))))
}

// lone reports whether m is the only usable mirror, apart from those that deliver whole pieces.
func (w *work) lone(m *mirror) bool {
	return !slices.ContainsFunc(w.mirrors, func(o *mirror) bool {
		return o != m && !o.noRanges && w.usable(o) && !o.align.whole()
	})
}

// part returns how many of the missing bytes a mirror can deliver before the others finish the rest.
func (w *work) part(m *mirror, speed float64) float64 {
	end, lag := w.horizon(m), w.lag(m, speed, m.alive)
	part := speed * (end - lag)
	// A further request is cheap, and the speeds are better known by then, in particular a speed that was only
	// remembered.
	if m.meter.total == 0 || end > manyLags*w.lag(m, speed, true) {
		part *= lastShare
	}
	return part
}

// share returns the minimum that a mirror of unknown speed is asked for: an equal part of a third of the file, as far
// as the window has room for all. If that is too much, the rest is taken from the mirror when its speed is known.
func (w *work) share() int64 {
	useful := count(w.mirrors, func(m *mirror) bool { return !m.gone() && !m.noRanges && (m.open() || !m.last) })
	n := min(useful+1, w.cfg.Split)
	return min(w.ranges.size/int64(3*n), windowMin/int64(n+1))
}

// reach returns how many bytes ahead of a fetch to the end of the file are reserved for it.
func (w *work) reach(f *fetch) int64 {
	if f.src.speed > 0 && f.src.flows(w.now, max(time.Second, warmTrips*f.src.rtt)) {
		period, least := windowTime, int64(minRange)
		if w.ranges.missing() <= hashSlack { // see goesOn
			period = min(period, w.remaining()/2)
		}
		if f.src.noRanges { // stopping it there would lose its bytes, even if it gets slow
			least = 0
		}
		return w.turn(max(int64(f.src.speed*period.Seconds()), least, w.cfg.MinSplit), f.src.speed)
	}
	return max(2*w.share(), 4<<20, w.cfg.MinSplit)
}

// extend moves the reservations of fetches to the end of the file: free bytes ahead of them are reserved up to a
// bounded distance. A fetch that meets the range of another one is ended there.
func (w *work) extend() {
	for _, f := range w.running {
		if !f.toEnd || f.ending {
			continue
		}
		reach := w.reach(f)
		want := min(f.pos+reach, w.ranges.size)
		if f.end > want+reach/4 { // tolerate small changes of speed
			w.ranges.free(byterange.Range{Start: want, End: f.end})
			f.end = want
		}
		for g := range w.gaps(byterange.Range{Start: f.end, End: want}) {
			if g.Start == f.end {
				w.ranges.reserve(g)
				f.end = g.End
			}
			break
		}
		if f.end < want && !f.src.noRanges && f.left() <= minRange { // the following bytes are reserved by others
			w.shrink(f, f.end, ReasonMet)
		}
	}
}
