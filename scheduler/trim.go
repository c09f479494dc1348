package scheduler

import (
	"slices"
	"time"
)

// trim closes connections that add nothing. Growth is judged while the first connections are still getting faster, so
// more connections may be open than the client's own link can use. If the mirrors together deliver much less than the
// sum of their best speeds, half of them are closed on trial. Without such a sign, a few mirrors are closed from time
// to time, if the download lasts long enough. If the total speed then stays the same, that counts as a sign.
type trim struct {
	clock     *clock
	mirrors   *mirrors
	requests  *requests
	estimates *estimates
	growth    *growth
	exchange  *exchange
	running   bool
	sure      bool      // the last trial changed nothing
	next      time.Time // no trial before this time
	trial     trial     // the running trial, or the last trial that changed something
	wait      time.Duration
	again     time.Time // when growth may resume
	pause     time.Duration
}

// trial is a test in which some mirrors are closed.
type trial struct {
	since   time.Time
	look    time.Duration // period at the end over which the speed is measured: the other mirrors need time to take over
	level   float64       // total speed before the trial
	least   float64       // least total speed if the closed mirrors added nothing
	nothing float64       // total speed if the other mirrors do not take over at all
	kept    int           // number of connections before the trial
}

const (
	crowded    = 0.7  // share of their best speeds below which mirrors seem to share a link
	crowdedOne = 0.85 // the same for one mirror: most mirrors must be below it, not only a few
	unchanged  = 0.9  // share of the total speed that remains if the closed mirrors added nothing
	revoked    = 0.8  // share below which the verdict was wrong or is outdated
	probed     = 0.15 // share of the total speed that is closed without a sign

	trimAgain  = 10 * time.Second
	trimLeast  = 5 * time.Second  // minimum remaining time: otherwise nothing can be gained
	probeLeast = 15 * time.Second // minimum remaining time without a sign
	probeTrips = 50               // the same in round trips, because the end of a trial takes up to ten
	growAgain  = time.Minute
	fewest     = 2 // one mirror that is used and one in reserve
)

// review ends a trial or begins one.
func (t *trim) review() {
	if t.running && !t.endTrial() {
		return
	}
	now, remaining := t.clock.now, t.estimates.remaining()
	if t.growth.measuring || now.Before(t.next) || remaining < trimLeast || t.mirrors.count() <= fewest ||
		!t.mirrors.settled(now) {
		return
	}
	sign := t.sure || t.crowded()
	if !sign && (remaining < max(probeLeast, probeTrips*t.mirrors.medianRTT()) || !t.alike() || t.exchange.tries()) {
		return
	}
	open := t.mirrors.fastest()
	keep := max((len(open)+1)/2, fewest)
	if !sign {
		slices.SortStableFunc(open, wholeFirst)
		keep = max(keep, t.within(open, 1-probed))
	}
	closed := t.shareOf(open[keep:])
	if !sign && (closed < probed/2 || open[keep].align.whole()) { // too little to be noticed, or too expensive
		t.next = now.Add(trimAgain)
		return
	}
	t.beginTrial(open, keep, closed)
}

// beginTrial closes all but the first keep mirrors in open. closed is the closed mirrors' share of the total speed.
func (t *trim) beginTrial(open mirrors, keep int, closed float64) {
	level := max(t.mirrors.mean(t.clock.now, time.Second), t.mirrors.mean(t.clock.now, 4*time.Second))
	if t.sure { // the means no longer include mirrors that were closed
		level = max(level, t.trial.level)
	}
	look := time.Second
	if closed > 2*probed { // a large change is visible sooner
		look = 400 * time.Millisecond
	}
	t.running, t.sure, t.next = true, false, time.Time{}
	t.trial = trial{
		since: t.clock.now, look: look, level: level, kept: len(open),
		least: level * max(unchanged, 1-closed/3), nothing: level * (1 - 0.7*closed),
	}
	t.growth.limit(keep)
	for _, m := range open[keep:] {
		t.requests.close(m, ReasonCrowded)
	}
}

// endTrial judges the running trial. It reports false if the trial must continue.
func (t *trim) endTrial() bool {
	lasts := t.clock.now.Sub(t.trial.since)
	if lasts < t.trial.look+200*time.Millisecond {
		return false
	}
	got := t.mirrors.mean(t.clock.now, t.trial.look)
	t.sure = got >= t.trial.least
	if patience := 10 * t.mirrors.medianRTT(); !t.sure &&
		(lasts < patience || got > t.trial.nothing && lasts < 1300*time.Millisecond) {
		return false
	}
	t.running, t.next = false, t.clock.now
	if !t.sure { // the closed mirrors did add something
		t.delay()
		t.growth.allowAgain(t.trial.kept)
	}
	return true
}

// delay doubles the pause before the next trial.
func (t *trim) delay() {
	t.sure, t.trial.level = false, 0
	t.wait = max(2*t.wait, trimAgain)
	t.next = t.clock.now.Add(t.wait)
}

// regrow resumes growth if the mirrors that a trial left deliver much less than all mirrors did before. It also does so
// after a long time: the network may have changed or the verdict may have been wrong.
func (t *trim) regrow() {
	switch {
	case !t.growth.ended || t.growth.mode == GrowSingle || t.running:
		t.again = time.Time{}
		return
	case t.again.IsZero():
		t.pause = max(t.pause, growAgain)
		t.again = t.clock.now.Add(t.pause)
	}
	now, period := t.clock.now, 2*t.mirrors.settlePeriod()
	switch {
	case t.trial.level > 0 && now.Sub(t.trial.since) > period && t.mirrors.mean(now, period) < revoked*t.trial.level:
		t.growth.allowAgain(t.trial.kept)
		t.delay()
	case t.clock.now.After(t.again) && t.estimates.remaining() > growAgain:
		t.pause *= 2
	default:
		return
	}
	t.growth.restart()
}

// crowded reports whether the mirrors seem to share one link: most of them deliver less than their best speed, and much
// less in total.
func (t *trim) crowded() bool {
	sum, best, less := 0.0, 0.0, 0
	open, period := t.mirrors.which(everyone), t.mirrors.settlePeriod()
	for _, m := range open {
		speed := max(m.meter.over(t.clock.now, period), m.meter.over(t.clock.now, 2*period)) // see mirrors.mean
		sum += speed
		best += m.top
		if speed < crowdedOne*m.top {
			less++
		}
	}
	return sum < crowded*best && 3*less >= 2*len(open)
}

// alike reports whether many mirrors have about the same speed, or the same product of speed and round-trip time, as
// mirrors that share a link do.
func (t *trim) alike() bool {
	var speeds, windows []float64
	for _, m := range t.mirrors.which(everyone) {
		speeds = append(speeds, m.speed)
		windows = append(windows, m.speed*m.rtt.Seconds())
	}
	return level(speeds) || level(windows)
}

// level reports whether at least three and at least half of the values are near the highest.
func level(values []float64) bool {
	top := slices.Max(values)
	n := count(values, func(v float64) bool { return v > 0.6*top })
	return n >= 3 && 2*n >= len(values)
}

// wholeFirst sorts mirrors that deliver whole pieces to the front, where they are kept. Peers do not let a client
// continue immediately after a pause, so a trial would cost what a swarm delivers in tens of seconds.
func wholeFirst(a, b *mirror) int {
	switch whole := a.align.whole(); {
	case whole == b.align.whole():
		return 0
	case whole:
		return -1
	}
	return 1
}

// within returns how many of the first mirrors together deliver at most a share of the total speed.
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

// shareOf returns the share of some mirrors in the total speed.
func (t *trim) shareOf(some mirrors) float64 {
	return some.aggregate() / max(t.mirrors.aggregate(), 1)
}

// exchange replaces the weakest open mirrors by untried mirrors, again and again, until each mirror was tried (RFC
// 6249, section 7: an established connection closes). After that, each closed mirror may return once, if it is faster
// than the weakest open mirror. The first exchanges happen early and involve several mirrors. Each exchange that finds
// nothing better makes the next exchange later and smaller.
type exchange struct {
	clock     *clock
	mirrors   *mirrors
	ranges    *ranges
	requests  *requests
	estimates *estimates
	due       time.Time // no exchange before this time
	barren    int       // consecutive exchanges without a new mirror much faster than the mirrors that it replaced
	level     float64   // speed of the fastest mirror that was replaced
	places    int       // number of untried mirrors that the exchange may still open
	tried     []*mirror // mirrors that the exchange opened
	chosen    []*mirror // mirrors that return when the connection of the replaced mirror is closed
	returned  []*mirror // mirrors that returned
}

const (
	exchangeLeast = 10 * time.Second // minimum remaining time: otherwise trying another mirror cannot pay
	exchangeMost  = 4                // maximum of mirrors in one exchange
	exchangeShare = 0.3              // maximum share of the total speed that leaves at once
	muchFaster    = 1.3              // how much faster a returning mirror must be than the mirror that it replaces
)

// watched returns how long all mirrors must deliver before they are compared. The time is shorter while untried mirrors
// are left, and grows with each exchange that finds nothing better.
func (e *exchange) watched() time.Duration {
	if e.untried() == 0 {
		return e.mirrors.settlePeriod()
	}
	return min(max(300*time.Millisecond, 8*e.mirrors.medianRTT())<<min(e.barren, 8), e.mirrors.settlePeriod())
}

// untried returns the number of mirrors that got no request yet and may be opened now.
func (e *exchange) untried() (n int) {
	return count(*e.mirrors, func(m *mirror) bool {
		return !m.tried() && !m.doubtful() && !m.last && e.requests.free(m) && e.mirrors.allowed(m, e.ranges.size)
	})
}

// tries reports whether untried mirrors will be tried soon.
func (e *exchange) tries() bool {
	return e.barren < 3 && e.estimates.remaining() >= exchangeLeast && e.untried() > 0
}

// swap closes one or several of the weakest mirrors, so that next can be opened. It closes one if next was tried and is
// much faster. Otherwise it closes several, for next and other untried mirrors.
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
	e.due = e.clock.now.Add(e.watched())
	e.level = weak[len(weak)-1].speed
	for _, m := range weak {
		e.requests.close(m, ReasonExchange)
	}
}

// batch returns how many of the slowest mirrors are replaced at once.
func (e *exchange) batch(slowest mirrors) (n int) {
	most, share := min(exchangeMost>>min(e.barren, 8), e.untried(), len(slowest)-1), exchangeShare*e.mirrors.aggregate()
	for n = 1; n < most; n++ {
		if share -= slowest[n-1].speed; share < slowest[n].speed {
			break
		}
	}
	return n
}

// judge evaluates the last exchange.
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

// opening returns the reason for opening m, which is not in use.
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
