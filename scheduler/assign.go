package scheduler

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"braid/byterange"
)

const (
	minRange  = 256 << 10 // no request for less, unless no more is left
	minSteal  = 32 << 10  // no request for less at all, while all goes well
	firstWant = 1 << 20   // the least for a mirror of unknown speed

	windowTime = 12 * time.Second // what the mirrors bring in it may lie ahead of the front
	windowMin  = 128 << 20
	windowMax  = 1 << 30

	// Toward the end a mirror gets lastShare of its part, and the rest when it is through with that, as long as a request
	// costs less than one part in manyLags of what is left.
	lastShare = 0.9
	manyLags  = 80
	fewLags   = 10 // a missing range that lasts so long is worth a request

	urgentTime = 1.0 // seconds before it would be too late

	// trifle is how many seconds of all mirrors are not worth a request to one that is slow to bring it.
	trifle = 0.01
)

// window is the part of the file in which ranges are given out. It is bounded so that the in-order hash is never far behind
// the bytes.
func (w *work) window() byterange.Range {
	from, ahead := w.ranges.front(), int64(w.mirrors.aggregate()*windowTime.Seconds())
	most := cmp.Or(w.cfg.Window, windowMax)
	return byterange.Range{Start: from, End: min(w.ranges.size, from+min(max(ahead, windowMin), most))}
}

// gaps are the parts of r, in order, that are missing and may be fetched by several.
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

// gapFor chooses the missing range that m should fetch now. An empty one means that there is none.
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
	// Crumbs, but none to a mirror of pieces that has others beside it, unless they wait for its place.
	if gap.Empty() && (!m.align.whole() || w.lone(m) || len(w.running) == 0) {
		gap = w.gapAt(in, at, want, 0)
	}
	if gap.Empty() && w.ranges.consumed < 0 { // rather far ahead of a front that is held up than idle
		gap = w.gapAt(byterange.Range{Start: in.Start, End: min(w.ranges.size, in.Start+windowMax)}, at, want, 0)
	}
	if gap.Empty() {
		return gap
	}
	start := gap.Start
	if start < at { // leave the beginning to those that are sooner
		start = max(start, min(at, gap.End-want))
	}
	if w.goesOn(gap) { // from its end: the connection is closed where it meets the range of another
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
	if rest := gap.End - r.End; rest < min(minRange, max(minSteal, want/4)) || rest < want/2 && w.remaining() >= 2*windowTime || rest < w.cfg.MinSplit {
		r.End = gap.End // no crumbs
	}
	if w.cfg.Window > 0 {
		r.End = min(r.End, max(in.End+w.cfg.Window/4, r.Start+minRange))
	}
	return r
}

// goesOn reports whether a fetch to the end of the file would go on into a missing range by itself, and the bytes may
// come in any order: those behind the range are so few that their hash takes a moment.
func (w *work) goesOn(gap byterange.Range) bool {
	if w.ranges.consumed >= 0 || w.ranges.missing() > hashSlack {
		return false
	}
	return slices.ContainsFunc(w.running, func(f *fetch) bool { return f.toEnd && !f.ending && f.end == gap.Start })
}

// urgent is the first missing range if m should bring it now, however short it is, so that the in-order hash of what
// follows is done when all is here.
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

// gapAt is the missing range in the window at or after at, else the last one before; those shorter than least are left to
// mirrors for which they are worth a request.
func (w *work) gapAt(window byterange.Range, at, want, least int64) (last byterange.Range) {
	// A range begins inside of the window. It is not cut at its end: that would make it short.
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

// awaited reports whether a missing range is less than the user wants to split off, and the fetch before it goes on to it by
// itself.
func (w *work) awaited(g byterange.Range) bool {
	if g.Len() >= w.cfg.MinSplit {
		return false
	}
	return slices.ContainsFunc(w.running, func(f *fetch) bool { return f.toEnd && !f.ending && f.end == g.Start })
}

// want is how much m should be asked for, and how far from the front: about what it brings in a time long enough that the
// idle round trip between requests does not count, less toward the end so that all finish together, and the further ahead
// the longer it will take.
func (w *work) want(m *mirror) (size, ahead int64) {
	all := w.mirrors.aggregate()
	if m.doubtful() { // a trial, where it holds none up
		return minRange, int64(all * 2)
	}
	speed, period := w.mirrors.speedOf(m), windowTime
	if m.running == nil && !m.open() {
		all += speed
	}
	missing := w.ranges.missing()
	switch {
	case m.align.whole() && w.lone(m): // between two ranges a swarm comes to a stop, and nothing has to be left to others
		return min(missing, windowMax), 0
	case m.speed == 0:
		period = 2 * time.Second
		return max(int64(speed*period.Seconds()), min(firstWant, missing/2), w.share(), w.cfg.MinSplit), int64(all)
	}
	size = int64(min(max(speed*period.Seconds(), minRange), w.part(m, speed)))
	if size < minSteal { // by then the others are through
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

// turn bounds a range of a mirror by its part of a small window: behind a longer one there would be no room for the
// next range of another.
func (w *work) turn(size int64, speed float64) int64 {
	if w.cfg.Window == 0 || speed == 0 {
		return size
	}
	return min(size, max(minRange, int64(float64(w.cfg.Window)*speed/max(speed, w.mirrors.aggregate()))))
}

// lone reports whether m has no others beside it but those that give pieces.
func (w *work) lone(m *mirror) bool {
	return !slices.ContainsFunc(w.mirrors, func(o *mirror) bool {
		return o != m && !o.noRanges && w.usable(o) && !o.align.whole()
	})
}

// part is what a mirror can bring of what is left before the others are through with the rest, in bytes.
func (w *work) part(m *mirror, speed float64) float64 {
	end, lag := w.horizon(m), w.lag(m, speed, m.alive)
	part := speed * (end - lag)
	// A further request costs little, and the speeds are known better then, above all one that was only remembered.
	if m.meter.total == 0 || end > manyLags*w.lag(m, speed, true) {
		part *= lastShare
	}
	return part
}

// share is what a mirror of unknown speed is asked for at least: an equal part of a third of the file, as far as the
// window has room for all. If that is too much for it, the rest is taken from it when its speed is known.
func (w *work) share() int64 {
	useful := count(w.mirrors, func(m *mirror) bool { return !m.gone() && !m.noRanges && (m.open() || !m.last) })
	n := min(useful+1, w.cfg.Split)
	return min(w.ranges.size/int64(3*n), windowMin/int64(n+1))
}

// reach is how far ahead of a fetch to the end of the file bytes are reserved for it.
func (w *work) reach(f *fetch) int64 {
	if f.src.speed > 0 && f.src.flows(w.now, max(time.Second, warmTrips*f.src.rtt)) {
		period, least := windowTime, int64(minRange)
		if w.ranges.missing() <= hashSlack { // see goesOn
			period = min(period, w.remaining()/2)
		}
		if f.src.noRanges { // it cannot be made to stop there without loss, however slow it gets
			least = 0
		}
		return w.turn(max(int64(f.src.speed*period.Seconds()), least, w.cfg.MinSplit), f.src.speed)
	}
	return max(2*w.share(), 4<<20, w.cfg.MinSplit)
}

// extend moves the reservations of fetches that go on to the end of the file: what lies before them and is free is
// theirs, up to a bounded distance. Where they meet the range of another they end.
func (w *work) extend() {
	for _, f := range w.running {
		if !f.toEnd || f.ending {
			continue
		}
		reach := w.reach(f)
		want := min(f.pos+reach, w.ranges.size)
		if f.end > want+reach/4 { // not for every change of speed
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
		if f.end < want && !f.src.noRanges && f.left() <= minRange { // what follows belongs to others
			w.shrink(f, f.end, ReasonMet)
		}
	}
}
