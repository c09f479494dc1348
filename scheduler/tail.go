package scheduler

import (
	"time"

	"braid/byterange"
)

// A tail sees to it that all mirrors finish together: one that finds nothing missing takes a part of another's range, and one
// that holds all others up makes room.
type tail struct {
	*work
	wasted float64 // bytes that were on their way when a range was split, about
}

const (
	worthSplit = 40 * time.Millisecond // the least gain that is worth a request
	dearGain   = 0.5                   // how many seconds are worth any waste
	dearTimes  = 4                     // how many times what is wasted would have come in them
	takeGain   = 0.5                   // seconds that are gained at least by taking what has a slow tail, however little that is

	answerTime = 300 * time.Millisecond // how long a mirror takes to answer, if nothing is known of it

	hashSlack = 96 << 20 // what the hash does in a moment
	hurryTime = 4        // seconds before the end
)

// steal takes for m the part of another's range that m would finish sooner, when nothing is left
// that no mirror works on. What holds up the front goes first; else what would take longest.
func (t *tail) steal(m *mirror, why Reason) bool {
	f := t.victim(m)
	if f == nil || t.readerIsLate() {
		return false
	}
	if m.doubtful() || t.protected(f) {
		return t.overtake(f, m, why)
	}
	at := t.split(f, m)
	if at == 0 {
		return false
	}
	t.take(f, at, m, why)
	return true
}

// victim chooses the fetch whose range is split for m.
func (t *tail) victim(m *mirror) *fetch {
	blocked := t.window().End < t.ranges.size
	var worst *fetch
	var latest float64
	for _, f := range t.running {
		if f.ending || f.src == m || t.begins(f) || t.staysWhole(f) {
			continue
		}
		if (m.doubtful() || t.protected(f)) && !t.lagsBehind(f, m) {
			continue
		}
		if blocked {
			if worst == nil || f.pos < worst.pos {
				worst = f
			}
			continue
		}
		if late := t.eta(f) - t.due(f); worst == nil || late > latest {
			worst, latest = f, late
		}
	}
	return worst
}

// readerIsLate reports whether half of a small window waits for the reader, so that nothing is won by sooner bytes.
func (t *tail) readerIsLate() bool {
	return t.cfg.Window > 0 && t.ranges.first(0)-t.ranges.front() > t.cfg.Window/2
}

// begins reports whether a fetch was asked for just now: what it will do cannot be known yet. Of how far a mirror is
// that has never answered nothing is known: others do not wait for it.
func (t *tail) begins(f *fetch) bool {
	return f.got == 0 && !f.src.doubtful() && t.now.Sub(f.since) < max(answerTime, time.Duration(4+2*f.src.trips)*f.src.rtt)
}

// staysWhole reports whether a range stays with its mirror, unless that falls silent: the user wants no parts as small as its
// halves (Config.MinSplit).
func (t *tail) staysWhole(f *fetch) bool { return f.left() < 2*t.cfg.MinSplit && t.hangs(f) == 0 }

// protected reports whether only a slow tail takes a fetch from its mirror: it is not worth another request, or cannot
// be divided.
func (t *tail) protected(f *fetch) bool {
	return f.src.noRanges || f.exclusive || f.left() < minSteal && t.hangs(f) == 0
}

// lagsBehind reports whether f has a slow tail: m would be through with its rest long before f. However little is left,
// it may take longer than all the rest of the file did. An answer with the whole file would have to begin anew: that is
// not done on trial.
func (t *tail) lagsBehind(f *fetch, m *mirror) bool {
	if f.got == 0 || f.left() == 0 || f.src.align.whole() || m.align.whole() || m.doubtful() && f.src.noRanges {
		return false
	}
	n := f.left()
	if d := t.pieces.disputedAt(f.end - 1); f.exclusive && d != nil {
		// Another begins the piece anew. That has to be worth it, and less often each time, or two take it from each
		// other for ever.
		if !t.known(f) || t.now.Sub(f.since) < silence<<min(d.taken, 10) {
			return false
		}
		n = d.piece.Len()
	}
	return t.eta(f) > t.through(m, float64(n))+takeGain
}

// through is in how many seconds m brings n bytes, if it is asked for them now.
func (t *tail) through(m *mirror, n float64) float64 {
	speed := m.speed
	if speed == 0 {
		speed = max(t.mirrors.guess(), firstWant/2)
	}
	return t.lag(m, speed, m.alive) + n/speed
}

// overtake gives m all that f, which has a slow tail, has left.
func (t *tail) overtake(f *fetch, m *mirror, why Reason) bool {
	if !f.exclusive {
		t.take(f, f.pos, m, why)
		return true
	}
	if d := t.pieces.disputedAt(f.end - 1); d != nil {
		d.taken++
	}
	t.close(f.src, ReasonSlow) // else the piece is kept for it
	return t.repair(m)
}

// take gives the range of f from at on to m.
func (t *tail) take(f *fetch, at int64, m *mirror, why Reason) {
	r := t.ranges.rest(byterange.Range{Start: at, End: f.end})
	if !f.cut {
		t.wasted += f.inFlight()
	}
	t.shrink(f, at, ReasonSplit)
	if r.Empty() {
		return
	}
	if why == ReasonNext {
		why = ReasonSplit
	}
	t.start(m, r, false, why)
}

// split is where the range of f is to be cut so that f and m finish their parts at the same time; 0
// when that gains nothing worth a request, or wastes more than it gains.
func (t *tail) split(f *fetch, m *mirror) int64 {
	theirs, ours := max(t.pace(f), 1), t.mirrors.speedOf(m)
	lag, hangs := t.lag(m, ours, m.alive), t.hangs(f)
	left := float64(f.left())
	take := min(theirs*(left/theirs+hangs-lag)*ours/(theirs+ours), left)
	// The mirrors at work will be free soon, too: what cannot be here when all is done is for them.
	take = min(take, ours*(t.horizon(nil)-lag/2))
	gain := take / theirs
	if take == left {
		gain += hangs
	}
	if gain < max(lag/2, worthSplit.Seconds()) || take < max(minSteal, float64(t.cfg.MinSplit)) && hangs < dearGain/2 {
		return 0
	}
	if gain < dearGain && gain*t.mirrors.aggregate() < dearTimes*f.inFlight() && t.tooDear(f) {
		return 0
	}
	return t.splitAt(f, m, f.end-int64(take))
}

// tooDear reports whether closing the connection of f wastes more than may be for a small gain: with what else is lost, that
// stays under 1 %.
func (t *tail) tooDear(f *fetch) bool {
	return !f.cut && t.wasted+f.inFlight() > max(256<<10, float64(t.ranges.size)/160)
}

// splitAt is where a range of f can be cut for m, near off: where a piece of m or of f begins. When that leaves nothing,
// m takes all of what f has left, if f would need more than twice as long. 0 means that nothing is to be gained.
func (t *tail) splitAt(f *fetch, m *mirror, off int64) int64 {
	if !f.src.align.whole() && !m.align.whole() {
		return t.pieces.next(off, f.end)
	}
	off = m.align.up(f.src.align.up(off))
	if off+m.align.length/2 < f.end {
		return off
	}
	speed := t.mirrors.speedOf(m)
	ours := t.lag(m, speed, m.alive) + float64(f.end-f.pos)/max(speed, 1)
	if m.align.whole() || t.eta(f) < max(2*ours, 1) {
		return 0
	}
	return f.pos
}

// hurry takes for m what the first range of the file would bring too late for the in-order hash, which would have much
// to do after the last byte.
func (t *tail) hurry(m *mirror, why Reason) bool {
	f := t.frontmost()
	if f == nil || f.src == m || f.src.align.whole() || m.align.whole() || f.src.noRanges || f.exclusive || t.ranges.size-f.end < hashSlack {
		return false
	}
	due, pace := t.due(f), t.pace(f)
	ours := m.speed
	take := float64(f.left()) - pace*due
	if due > hurryTime || take < max(minSteal, pace/10, float64(t.cfg.MinSplit)) || t.lag(m, ours, m.alive)+take/max(ours, 1) > due || t.tooDear(f) {
		return false
	}
	t.take(f, f.end-int64(take), m, why)
	return true
}

// frontmost is the fetch that works at the beginning of what is missing.
func (t *tail) frontmost() (first *fetch) {
	for _, f := range t.running {
		if !f.ending && (first == nil || f.pos < first.pos) {
			first = f
		}
	}
	return first
}

// A mirror with a slow tail may hold the only place that there is: growth has ended with it, or the user wants one source at a
// time, or the others answer with whole files. So every wait is compared with what others could do: a fetch that was watched
// for relieveTime, and needs a minimum and many times what a mirror without a place would, makes room for that one.
const (
	relieveTime  = 5 * time.Second
	relieveLeast = 10 // seconds that it still needs
	relieveTimes = 10 // times what the other needs
	relieveOpen  = 10 // times both, if the other has a place
)

// relieve ends the fetch that holds up the rest for longest, if a mirror that waits would be through much sooner.
func (t *tail) relieve() {
	var worst *fetch
	var needs float64
	for _, f := range t.running {
		if n := t.drips(f); n > needs {
			worst, needs = f, n
		}
	}
	if worst == nil || needs < relieveLeast {
		return
	}
	for _, m := range t.mirrors {
		times, n := 1.0, worst.left()
		if m.open() { // it has a place, and was not to split the range, for one of the reasons that hold in general
			times = relieveOpen
		}
		if m.noRanges {
			n = t.ranges.size
		}
		if m != worst.src && t.waits(m) && needs > times*relieveLeast && needs > times*relieveTimes*t.through(m, float64(n)) {
			worst.src.heldUp()
			t.close(worst.src, ReasonSlow)
			return
		}
	}
}

// drips is how many seconds a fetch still needs, if it was watched for long enough and goes on; else 0.
func (t *tail) drips(f *fetch) float64 {
	if f.ending || f.got == 0 || f.src.align.whole() || t.now.Sub(f.since) < relieveTime || t.now.Sub(f.activeAt) > silence*3/4 {
		return 0
	}
	return float64(f.left()) / max(f.src.meter.over(t.now, relieveTime), 1)
}

// waits reports whether a mirror has nothing to do, and could begin now.
func (t *tail) waits(m *mirror) bool {
	return m.running == nil && !m.slowTail && !m.last && t.free(m) && (!m.noRanges || len(t.running) == 1)
}
