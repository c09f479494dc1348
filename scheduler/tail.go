package scheduler

import (
	"time"

	"braid/byterange"
)

// tail makes all mirrors finish together. A mirror without a missing range to fetch takes a part of another mirror's
// range, and a mirror that delays all others is closed.
type tail struct {
	cfg        Config
	clock      *clock
	mirrors    *mirrors
	ranges     *ranges
	requests   *requests
	checks     *checks
	estimates  *estimates
	assignment *assignment
	wasted     float64 // estimated bytes lost in flight when ranges were split
}

const (
	worthSplit = 40 * time.Millisecond // smallest gain in time that is worth a request
	dearGain   = 0.5                   // a gain of this many seconds is worth any waste
	dearTimes  = 4                     // a smaller gain must be worth this many times the wasted bytes
	takeGain   = 0.5                   // smallest gain in seconds for taking over a slow tail, regardless of its size

	answerTime = 300 * time.Millisecond // time that an unknown mirror is assumed to need for an answer

	hashSlack = 96 << 20 // bytes that are hashed in a moment
	hurryTime = 4        // in seconds: hurry takes bytes only from a range that is due in less time
)

// steal assigns to m the part of another range that m would finish sooner. It is called when no unassigned range is
// left. A range that blocks the front comes first, otherwise the range that would take longest.
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

// victim returns the fetch whose range should be split for m, or nil.
func (t *tail) victim(m *mirror) *fetch {
	blocked := t.assignment.window().End < t.ranges.size
	var worst *fetch
	var latest float64
	for f := range t.requests.active() {
		if f.src == m || t.begins(f) || t.staysWhole(f) {
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
		if late := t.estimates.eta(f) - t.estimates.due(f); worst == nil || late > latest {
			worst, latest = f, late
		}
	}
	return worst
}

// readerIsLate reports whether half of a small window waits for the reader of a stream: faster delivery would not help.
func (t *tail) readerIsLate() bool {
	return t.cfg.Window > 0 && t.ranges.first(0)-t.ranges.front() > t.cfg.Window/2
}

// begins reports whether f was requested so recently that its speed cannot be known yet. If the round-trip time is
// unknown, the limit is answerTime. The result is false for a doubtful mirror.
func (t *tail) begins(f *fetch) bool {
	patience := max(answerTime, time.Duration(4+2*f.src.trips)*f.src.rtt)
	return f.got == 0 && !f.src.doubtful() && t.clock.now.Sub(f.since) < patience
}

// staysWhole reports whether the rest of f is too small to be split according to Config.MinSplit, and f does not hang.
func (t *tail) staysWhole(f *fetch) bool {
	return f.left() < 2*t.cfg.MinSplit && t.estimates.hangs(f) == 0
}

// protected reports whether f may be taken from its mirror only because of a slow tail: splitting f is not worth
// another request or is not possible.
func (t *tail) protected(f *fetch) bool {
	return f.src.noRanges || f.exclusive || f.left() < minSteal && t.estimates.hangs(f) == 0
}

// lagsBehind reports whether f has a slow tail: m would deliver the rest long before f. Even a short rest may take
// longer than all bytes before. A fetch without ranges would begin again, so a doubtful mirror does not take it over.
func (t *tail) lagsBehind(f *fetch, m *mirror) bool {
	if f.got == 0 || f.left() == 0 || f.src.align.whole() || m.align.whole() || m.doubtful() && f.src.noRanges {
		return false
	}
	n := f.left()
	if d := t.checks.pieces.disputedAt(f.end - 1); f.exclusive && d != nil {
		// Another mirror would fetch the piece again from its start. That must be worth it, and is allowed less often
		// each time, so that two mirrors do not take the piece from each other forever.
		if !f.known(t.clock.now) || t.clock.now.Sub(f.since) < silence<<min(d.taken, 10) {
			return false
		}
		n = d.piece.Len()
	}
	return t.estimates.eta(f) > t.through(m, float64(n))+takeGain
}

// through returns how many seconds m needs for n bytes, if it is asked for them now.
func (t *tail) through(m *mirror, n float64) float64 {
	speed := m.speed
	if speed == 0 {
		speed = max(t.mirrors.guess(), firstWant/2)
	}
	return t.estimates.lag(m, speed, m.alive) + n/speed
}

// overtake assigns the rest of f, which has a slow tail, to m.
func (t *tail) overtake(f *fetch, m *mirror, why Reason) bool {
	if !f.exclusive {
		t.take(f, f.pos, m, why)
		return true
	}
	t.checks.pieces.take(f.end - 1)
	t.requests.close(f.src, ReasonSlow) // otherwise the piece stays reserved for f.src
	return t.checks.repair(m)
}

// take assigns to m the rest of the range of f, from the offset at.
func (t *tail) take(f *fetch, at int64, m *mirror, why Reason) {
	r := t.ranges.rest(byterange.Range{Start: at, End: f.end})
	if !f.cut {
		t.wasted += f.inFlight()
	}
	t.requests.shrink(f, at, ReasonSplit)
	if r.Empty() {
		return
	}
	if why == ReasonNext {
		why = ReasonSplit
	}
	t.requests.start(m, r, false, why)
}

// split returns the offset at which to split the range of f so that f and m finish at the same time. It returns 0 if
// the gain is not worth a request or is less than the waste.
func (t *tail) split(f *fetch, m *mirror) int64 {
	theirs, ours := max(t.estimates.pace(f), 1), t.mirrors.speedOf(m)
	lag, hangs := t.estimates.lag(m, ours, m.alive), t.estimates.hangs(f)
	left := float64(f.left())
	take := min(theirs*(left/theirs+hangs-lag)*ours/(theirs+ours), left)
	// The working mirrors will be free soon as well. Bytes that m cannot deliver before the end are left to these mirrors.
	take = min(take, ours*(t.estimates.horizon(nil)-lag/2))
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

// tooDear reports whether closing the connection of f wastes more than a small gain justifies. In total, the waste
// stays below 1 % of the file.
func (t *tail) tooDear(f *fetch) bool {
	return !f.cut && t.wasted+f.inFlight() > max(256<<10, float64(t.ranges.size)/160)
}

// splitAt returns an offset near off where the range of f can be split for m, at the start of a piece of m or f. If no
// such offset leaves enough for m, m takes the rest of f if f would need more than twice as long as m: the result is
// f.pos. Otherwise it is 0.
func (t *tail) splitAt(f *fetch, m *mirror, off int64) int64 {
	if !f.src.align.whole() && !m.align.whole() {
		return t.checks.pieces.next(off, f.end)
	}
	off = m.align.up(f.src.align.up(off))
	if off+m.align.length/2 < f.end {
		return off
	}
	speed := t.mirrors.speedOf(m)
	ours := t.estimates.lag(m, speed, m.alive) + float64(f.end-f.pos)/max(speed, 1)
	if m.align.whole() || t.estimates.eta(f) < max(2*ours, 1) {
		return 0
	}
	return f.pos
}

// hurry assigns to m those bytes of the frontmost range that would arrive too late for the in-order hash. Otherwise
// much would be left to hash after the last byte. It reports whether it did.
func (t *tail) hurry(m *mirror, why Reason) bool {
	f := t.frontmost()
	if f == nil || f.src == m || f.src.align.whole() || m.align.whole() || f.src.noRanges || f.exclusive ||
		t.ranges.size-f.end < hashSlack {
		return false
	}
	due, pace := t.estimates.due(f), t.estimates.pace(f)
	ours := m.speed
	take := float64(f.left()) - pace*due
	if due > hurryTime || take < max(minSteal, pace/10, float64(t.cfg.MinSplit)) || t.estimates.lag(m, ours,
		m.alive)+take/max(ours, 1) > due || t.tooDear(f) {
		return false
	}
	t.take(f, f.end-int64(take), m, why)
	return true
}

// frontmost returns the fetch at the lowest offset.
func (t *tail) frontmost() (first *fetch) {
	for f := range t.requests.active() {
		if first == nil || f.pos < first.pos {
			first = f
		}
	}
	return first
}

// A mirror with a slow tail may be the only open mirror: growth has ended with one connection, the user wants one
// source at a time, or the other mirrors answer with whole files. So each fetch is compared with the mirrors that wait.
// The mirror of a fetch is closed if the fetch was observed for relieveTime and still needs many times as long as a
// waiting mirror would.
const (
	relieveTime  = 5 * time.Second
	relieveLeast = 10 // minimum of the seconds that the fetch still needs
	relieveTimes = 10 // minimum ratio to the time that a waiting mirror would need
	relieveOpen  = 10 // factor for both minimums if the waiting mirror is open
)

// relieve ends the fetch that needs the longest time, if a waiting mirror would finish much sooner.
func (t *tail) relieve() {
	var worst *fetch
	var needs float64
	for f := range t.requests.active() {
		if n := t.drips(f); n > needs {
			worst, needs = f, n
		}
	}
	if worst == nil || needs < relieveLeast {
		return
	}
	for _, m := range *t.mirrors {
		times, n := 1.0, worst.left()
		if m.open() { // m is open, but was not allowed to split the range
			times = relieveOpen
		}
		if m.noRanges {
			n = t.ranges.size
		}
		if m != worst.src && t.waits(m) && needs > times*relieveLeast && needs > times*relieveTimes*t.through(m, float64(n)) {
			worst.src.heldUp()
			t.requests.close(worst.src, ReasonSlow)
			return
		}
	}
}

// drips returns how many seconds f still needs, or 0 if f was not observed long enough or has stopped.
func (t *tail) drips(f *fetch) float64 {
	now := t.clock.now
	if f.got == 0 || f.src.align.whole() || now.Sub(f.since) < relieveTime || now.Sub(f.activeAt) > silence*3/4 {
		return 0
	}
	return float64(f.left()) / max(f.src.meter.over(now, relieveTime), 1)
}

// waits reports whether m has no fetch and could begin one now.
func (t *tail) waits(m *mirror) bool {
	return m.running == nil && !m.slowTail && !m.last && t.requests.free(m) && (!m.noRanges || t.requests.len() == 1)
}
