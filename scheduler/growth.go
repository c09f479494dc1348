package scheduler

import "time"

// GrowthMode determines how many connections are added in each step. The zero value opens one, then two, then four, as
// long as each step pays. RFC 6249, section 7, says "an additional connection"; the reasons for adding more are in
// doc/decisions.
type GrowthMode uint8

// GrowSingle follows RFC 6249, section 7, literally: one connection in each step.
const GrowSingle GrowthMode = 1

// growth determines how many connections are worth having, from the total speed before and after a step (RFC 6249,
// section 7). While a step is measured, no further step is allowed. After a step with a single connection that did not
// pay, no step is allowed until an established connection closes.
type growth struct {
	mode      GrowthMode
	most      int
	allowed   int  // number of connections that may be open
	step      int  // connections to add in the next step
	fresh     bool // no connection was opened yet
	careful   bool // measure over longer periods
	measuring bool
	ended     bool
	full      bool // ended because another connection added nothing
	dialed    time.Time
	added     int     // connections added in the running step
	before    float64 // speed of the older connections at the start of the step, in bytes a second
}

func newGrowth(mode GrowthMode, most int) growth {
	return growth{mode: mode, most: most, allowed: 1, step: 1, fresh: true}
}

// sample is the observation of a step.
type sample struct {
	rtt       time.Duration // median of the connections
	incumbent float64       // present speed of the older connections, in bytes a second
	newcomer  float64       // present speed of the new connections, in bytes a second
	alive     int           // number of new connections that are still open
	answered  bool          // at least one new connection has answered
	seen      bool          // all new connections have delivered bytes for half a round trip
	ripe      bool          // the new connections are past slow start or were given up
}

// verdict is the conclusion from a sample.
type verdict uint8

const (
	undecided verdict = iota
	pays
	doesNotPay
	tooLate // no new connection has answered yet; the new connections are judged later
)

const (
	// stragglersMost limits the unanswered connections, including the connections of the next step. At the limit, steps
	// add single connections.
	stragglersMost = 4
	// gainShare is the share of the newcomers' speed that must be additional for a step to pay.
	gainShare = 0.3
)

// more returns how many connections may be opened now. open is the number of open connections, and late the number of
// connections that have not answered. A measurement begins when the caller calls dial.
func (g *growth) more(open, late int) int {
	if g.measuring || g.ended {
		return max(0, g.allowed-open)
	}
	step := g.step
	if late > 0 {
		step = max(1, min(step, stragglersMost-late))
	}
	return max(0, min(g.allowed+step, g.most)-open)
}

// dial begins a step: it adds the mirrors in added, and raises allowed by k. before is the speed of the other mirrors.
func (g *growth) dial(now time.Time, k int, before float64, added []*mirror) {
	g.measuring, g.dialed, g.added, g.before = true, now, k, before
	g.allowed += k
	g.fresh = false
	for _, m := range added {
		m.joined = true
	}
}

// brings returns the present speed of the mirrors for which ok returns true, in bytes a second.
func (g *growth) brings(now time.Time, ms mirrors, ok func(*mirror) bool) float64 {
	period := max(2*ms.medianRTT(), 3*slotWidth)
	if g.careful {
		period = max(period, time.Second)
	}
	return ms.sum(func(m *mirror) float64 {
		if m.late || !ok(m) {
			return 0
		}
		return m.meter.over(now, period)
	})
}

// observe returns a sample of the running step.
func (g *growth) observe(now time.Time, ms mirrors) (s sample) {
	s.rtt, s.seen, s.ripe = ms.medianRTT(), true, true
	s.incumbent = g.brings(now, ms, func(m *mirror) bool { return !m.joined })
	s.newcomer = g.brings(now, ms, joined)
	grace := now.Sub(g.dialed) > max(silence, 10*s.rtt)
	for _, m := range ms.which(joined) {
		s.alive++
		s.answered = s.answered || m.meter.total > 0
		s.seen = s.seen && m.rtt > 0 && m.flows(now, max(m.rtt/2, 2*slotWidth))
		s.ripe = s.ripe && (grace || m.flows(now, max(8*m.rtt, g.ripening())))
	}
	return s
}

// patience returns the time after the dial at which a step is judged even if not all new connections have delivered
// bytes for half a round trip: one rtt to connect, one to the first bytes, and half of one to observe the older
// connections meanwhile.
func patience(rtt time.Duration) time.Duration { return rtt * 5 / 2 }

// ripening returns how long a connection must deliver before it counts as past slow start and observed long enough.
func (g *growth) ripening() time.Duration {
	if g.careful {
		return 3 * time.Second / 2
	}
	return 300 * time.Millisecond
}

// judge returns the verdict on the running step, of which s is a sample. The step pays as soon as most of the speed of
// the new connections is additional. The verdict that a step does not pay is given only after slow start.
func (g *growth) judge(now time.Time, s sample) verdict {
	if !g.measuring || !s.seen && now.Sub(g.dialed) < patience(s.rtt) {
		return undecided
	}
	gain := s.incumbent + s.newcomer - g.before
	switch {
	case !s.answered && g.mode != GrowSingle:
		return tooLate
	case s.newcomer > 0 && gain >= s.newcomer/2 && (s.ripe || !g.careful):
		return pays
	case s.ripe && gain < s.newcomer*gainShare:
		return doesNotPay
	case s.ripe:
		return pays
	}
	return undecided
}

// conclude ends the running step with the verdict v. It returns how many connections of the step to close.
func (g *growth) conclude(v verdict, s sample) (cut int) {
	g.measuring = false
	if v == pays || v == tooLate {
		if g.mode != GrowSingle {
			g.step = min(2*g.step, 4)
		}
		return 0
	}
	if g.mode == GrowSingle {
		g.ended, g.full = true, true // the RFC does not require that the connection is closed
		return 0
	}
	if s.newcomer > 0 { // keep as many as paid
		gain := max(0, s.incumbent+s.newcomer-g.before)
		cut = g.added - int(float64(g.added)*min(1, gain/s.newcomer))
	}
	g.ended = g.added == 1
	g.full = g.ended
	g.step = 1
	g.allowed = max(1, g.allowed-cut)
	return cut
}

// moot ends a step that cannot be judged, because none of its connections was established.
func (g *growth) moot() {
	g.measuring = false
	g.allowed = max(1, g.allowed-g.added)
}

// limit ends growth, with allowed as the number of connections.
func (g *growth) limit(allowed int) { g.allowed, g.ended = allowed, true }

// allowAgain allows at least kept connections, the number before a trial that was wrong.
func (g *growth) allowAgain(kept int) { g.allowed = max(g.allowed, kept) }

// plan makes the next step add at least n connections.
func (g *growth) plan(n int) { g.step = max(g.step, n) }

// restart resumes growth, with longer measurements.
func (g *growth) restart() { g.ended, g.full, g.step, g.careful = false, false, 1, true }

func joined(m *mirror) bool { return m.joined }
