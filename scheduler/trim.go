package scheduler

import (
	"slices"
	"time"
)

// A trim closes connections again that add nothing: growth is judged while the first connections are
// still getting faster, so more may be open than the client's own link can use. If together the mirrors bring
// much less than each has shown that it can, half of them is closed on trial. Without such a sign a few are,
// now and then, if the download lasts long enough: when that changes nothing it is a sign.
type trim struct {
	*work
	growth   *growth
	exchange *exchange
	running  bool
	sure     bool      // the last trial changed nothing
	next     time.Time // no trial before
	trial    trial     // the running one, or the last one that changed something
	wait     time.Duration
	again    time.Time // when growth may begin anew
	pause    time.Duration
}

// A trial is what some mirrors are closed for.
type trial struct {
	since   time.Time
	look    time.Duration // over which its end is judged: the others need some time to take over
	level   float64       // the aggregate before it
	least   float64       // the aggregate, if what was closed added nothing
	nothing float64       // the aggregate, if none takes over what was closed
	kept    int           // connections before it
}

const (
	crowded    = 0.7  // of what the mirrors have shown: below it they seem to share one link
	crowdedOne = 0.85 // the same for most of them one by one: else it is these few that got slower
	unchanged  = 0.9  // of the aggregate before: at least this is left when what was closed added nothing
	revoked    = 0.8  // of it: with less the verdict was wrong, or is by now
	probed     = 0.15 // of the aggregate: what is closed when there is no sign

	trimAgain  = 10 * time.Second
	trimLeast  = 5 * time.Second  // the download lasts so much longer at least: else nothing can be won
	probeLeast = 15 * time.Second // the same when there is no sign
	probeTrips = 50               // and so many round trips: its end takes up to ten to be seen
	growAgain  = time.Minute
	fewest     = 2 // one that is used and one in reserve
)

// review ends a trial, or begins one.
func (t *trim) review() {
	if t.running && !t.endTrial() {
		return
	}
	if t.growth.measuring || t.now.Before(t.next) || t.remaining() < trimLeast || t.mirrors.count() <= fewest || !t.mirrors.settled(t.now) {
		return
	}
	sign := t.sure || t.crowded()
	if !sign && (t.remaining() < max(probeLeast, probeTrips*t.mirrors.medianRTT()) || !t.alike() || t.exchange.tries()) {
		return
	}
	open := t.mirrors.fastest()
	keep := max((len(open)+1)/2, fewest)
	if !sign {
		slices.SortStableFunc(open, wholeFirst)
		keep = max(keep, t.within(open, 1-probed))
	}
	closed := t.shareOf(open[keep:])
	if !sign && (closed < probed/2 || open[keep].align.whole()) { // too little to be noticed, or too dear
		t.next = t.now.Add(trimAgain)
		return
	}
	t.beginTrial(open, keep, closed)
}

// beginTrial begins a trial without those mirrors that are not among the first to keep, which brought a share of all.
func (t *trim) beginTrial(open mirrors, keep int, closed float64) {
	level := max(t.mirrors.mean(t.now, time.Second), t.mirrors.mean(t.now, 4*time.Second))
	if t.sure { // those that were closed are not in the means any more
		level = max(level, t.trial.level)
	}
	look := time.Second
	if closed > 2*probed { // a large change shows in less
		look = 400 * time.Millisecond
	}
	t.running, t.sure, t.next = true, false, time.Time{}
	t.trial = trial{
		since: t.now, look: look, level: level, kept: len(open),
		least: level * max(unchanged, 1-closed/3), nothing: level * (1 - 0.7*closed),
	}
	t.growth.limit(keep)
	for _, m := range open[keep:] {
		t.close(m, ReasonCrowded)
	}
}

// endTrial gives the verdict on what was closed. It reports false if it is not time yet.
func (t *trim) endTrial() bool {
	lasts := t.now.Sub(t.trial.since)
	if lasts < t.trial.look+200*time.Millisecond {
		return false
	}
	got := t.mirrors.mean(t.now, t.trial.look)
	t.sure = got >= t.trial.least
	if patience := 10 * t.mirrors.medianRTT(); !t.sure && (lasts < patience || got > t.trial.nothing && lasts < 1300*time.Millisecond) {
		return false
	}
	t.running, t.next = false, t.now
	if !t.sure { // they did add something
		t.delay()
		t.growth.allowed = max(t.growth.allowed, t.trial.kept)
	}
	return true
}

// delay lets more and more time go by before the next trial.
func (t *trim) delay() {
	t.sure, t.trial.level = false, 0
	t.wait = max(2*t.wait, trimAgain)
	t.next = t.now.Add(t.wait)
}

// regrow lets growth begin anew: when those that a trial left bring much less than all did before it, and after a long
// while, as the network, or a verdict, may have been another one then.
func (t *trim) regrow() {
	switch {
	case !t.growth.ended || t.growth.mode == GrowSingle || t.running:
		t.again = time.Time{}
		return
	case t.again.IsZero():
		t.pause = max(t.pause, growAgain)
		t.again = t.now.Add(t.pause)
	}
	period := 2 * t.mirrors.settlePeriod()
	switch {
	case t.trial.level > 0 && t.now.Sub(t.trial.since) > period && t.mirrors.mean(t.now, period) < revoked*t.trial.level:
		t.growth.allowed = max(t.growth.allowed, t.trial.kept)
		t.delay()
	case t.now.After(t.again) && t.remaining() > growAgain:
		t.pause *= 2
	default:
		return
	}
	t.growth.restart()
}

// crowded reports whether the mirrors seem to share one link: most of them bring less than their best, and together
// they bring much less.
func (t *trim) crowded() bool {
	sum, best, less := 0.0, 0.0, 0
	open, period := t.mirrors.which(everyone), t.mirrors.settlePeriod()
	for _, m := range open {
		speed := max(m.meter.over(t.now, period), m.meter.over(t.now, 2*period)) // see mean
		sum += speed
		best += m.top
		if speed < crowdedOne*m.top {
			less++
		}
	}
	return sum < crowded*best && 3*less >= 2*len(open)
}

// alike reports whether many of the mirrors bring about the same, as those do that share a link: the same each, or each
// in proportion to how near it is.
func (t *trim) alike() bool {
	var speeds, windows []float64
	for _, m := range t.mirrors.which(everyone) {
		speeds = append(speeds, m.speed)
		windows = append(windows, m.speed*m.rtt.Seconds())
	}
	return level(speeds) || level(windows)
}

// level reports whether at least half of the values, and three of them, are near the highest.
func level(values []float64) bool {
	top := slices.Max(values)
	n := count(values, func(v float64) bool { return v > 0.6*top })
	return n >= 3 && 2*n >= len(values)
}

// wholeFirst orders mirrors so that those that give whole pieces are kept: peers do not let a client that paused go on
// at once, so that a trial costs tens of seconds of what a swarm brings.
func wholeFirst(a, b *mirror) int {
	switch whole := a.align.whole(); {
	case whole == b.align.whole():
		return 0
	case whole:
		return -1
	}
	return 1
}

// within counts how many of the first mirrors bring at most a share of what all bring.
func (t *trim) within(open mirrors, share float64) (n int) {
	left := share * t.mirrors.aggregate()
	for _, m := range open {
		if left -= m.speed; left < 0 {
			break
		}
		n++
	}
	return n
}

// shareOf is the part that some of the mirrors have in what all bring.
func (t *trim) shareOf(some mirrors) float64 {
	return some.aggregate() / max(t.mirrors.aggregate(), 1)
}

// An exchange closes the weakest mirrors so that some that were never tried take their places, until each was tried;
// what then are the weakest make room for the next (RFC 6249, section 7: an established connection closes). At the end
// the mirrors come back, once, that were faster than those in their place. The first exchanges are soon and of several
// at once; each that finds nothing better makes the next one later and smaller.
type exchange struct {
	*work
	due      time.Time // none before
	barren   int       // exchanges in a row of which none of the new mirrors was much faster than those that left
	level    float64   // the fastest of those that left
	places   int       // for mirrors that were never tried
	tried    []*mirror // those that got them
	chosen   []*mirror // each gets the place of another when its connection is closed
	returned []*mirror // they came back
}

const (
	exchangeLeast = 10 * time.Second // the download lasts so much longer at least, or trying another mirror cannot pay
	exchangeMost  = 4                // at once
	exchangeShare = 0.3              // of what all bring: those that leave at once bring no more of it
	muchFaster    = 1.3              // how much faster a mirror was that comes back in the place of another
)

// watched is how long all mirrors have to flow before they are compared: less at first, where there are untried ones.
func (e *exchange) watched() time.Duration {
	if e.untried() == 0 {
		return e.mirrors.settlePeriod()
	}
	return min(max(300*time.Millisecond, 8*e.mirrors.medianRTT())<<min(e.barren, 8), e.mirrors.settlePeriod())
}

// untried counts the mirrors that could take a place and were never asked.
func (e *exchange) untried() (n int) {
	return count(e.mirrors, func(m *mirror) bool {
		return !m.tried() && !m.doubtful() && !m.last && e.free(m) && e.allowed(m)
	})
}

// tries reports whether there are mirrors to be tried soon.
func (e *exchange) tries() bool {
	return e.barren < 3 && e.remaining() >= exchangeLeast && e.untried() > 0
}

// swap makes room for next, and for others that were never tried as it was not, if they may be better than the weakest.
func (e *exchange) swap(next *mirror) {
	weak := e.mirrors.weakest()
	if next == nil || len(weak) < 2 || next.doubtful() || next.last {
		return
	}
	e.judge()
	if next.tried() {
		if slices.Contains(e.returned, next) || next.speed < muchFaster*weak[0].speed {
			return
		}
		e.returned = append(e.returned, next)
		e.chosen = append(e.chosen, next)
		weak = weak[:1]
	} else {
		weak = weak[:e.batch(weak)]
		e.places = len(weak)
	}
	e.due = e.now.Add(e.watched())
	e.level = weak[len(weak)-1].speed
	for _, m := range weak {
		e.close(m, ReasonExchange)
	}
}

// batch is how many of the slowest mirrors make room at once.
func (e *exchange) batch(slowest mirrors) (n int) {
	most, share := min(exchangeMost>>min(e.barren, 8), e.untried(), len(slowest)-1), exchangeShare*e.mirrors.aggregate()
	for n = 1; n < most; n++ {
		if share -= slowest[n-1].speed; share < slowest[n].speed {
			break
		}
	}
	return n
}

// judge looks at what the last exchange brought.
func (e *exchange) judge() {
	if e.level == 0 {
		return
	}
	e.barren++
	if slices.ContainsFunc(e.tried, func(m *mirror) bool { return m.speed > muchFaster*e.level }) {
		e.barren = 0
	}
	e.tried, e.level = nil, 0
}

// opening is why a mirror is opened that is not in use.
func (e *exchange) opening(m *mirror) Reason {
	if i := slices.Index(e.chosen, m); i >= 0 {
		e.chosen = slices.Delete(e.chosen, i, i+1)
		return ReasonExchange
	}
	switch {
	case m.tried():
		return ReasonReturn
	case e.places > 0:
		e.places--
		e.tried = append(e.tried, m)
		return ReasonExchange
	case m.speed > 0:
		return ReasonRemembered
	}
	return ReasonGrowth
}
