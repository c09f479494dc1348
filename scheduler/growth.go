package scheduler

import "time"

// A GrowthMode is how many connections are added at a time. The zero value opens one, then two, four, as long as each step
// pays. RFC 6249, section 7, says "an additional connection"; the reasons for more are in doc/decisions.
type GrowthMode uint8

// GrowSingle is the letter of RFC 6249, section 7: one at a time.
const GrowSingle GrowthMode = 1

// growth decides how many connections are worth having, from the aggregate speed before and after some were added (RFC
// 6249, section 7). While a step is measured it allows no further one; after a single one that did not pay, none until
// an established one closes.
type growth struct {
	mode      GrowthMode
	most      int
	allowed   int  // connections that may be open
	step      int  // how many to add next
	fresh     bool // nothing was opened by it yet
	careful   bool // there is time to look for longer
	measuring bool
	ended     bool
	full      bool // it ended as one more connection brought nothing
	dialed    time.Time
	added     int     // how many the running step added
	before    float64 // what the incumbents brought when they were dialled, bytes a second
}

func newGrowth(mode GrowthMode, most int) growth {
	return growth{mode: mode, most: most, allowed: 1, step: 1, fresh: true}
}

// A sample is what was observed of a step.
type sample struct {
	rtt       time.Duration // median of the connections
	incumbent float64       // bytes a second that the older connections bring now
	newcomer  float64       // bytes a second that the new ones bring now
	alive     int           // how many of the new ones there are still
	answered  bool          // one of the new ones has answered
	seen      bool          // all of the new ones have brought something for half a round trip
	ripe      bool          // the new ones are past slow start, or were given up
}

// A verdict is what a sample means.
type verdict uint8

const (
	undecided verdict = iota
	pays
	doesNotPay
	tooLate // none of the new ones has answered yet: they are judged later
)

const (
	// stragglersMost: when so many connections have not answered, those that follow come one by one.
	stragglersMost = 4
	// gainShare is the share of the newcomers' speed that must be gain.
	gainShare = 0.3
)

// more is how many connections may be opened now, given how many are open and how many of them have not answered. A
// measurement begins when the caller dials them.
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

// dial begins the measurement of mirrors that were added, k of them beyond those allowed. before is what the others brought.
func (g *growth) dial(now time.Time, k int, before float64, added []*mirror) {
	g.measuring, g.dialed, g.added, g.before = true, now, k, before
	g.allowed += k
	g.fresh = false
	for _, m := range added {
		m.joined = true
	}
}

// brings is what those of the mirrors bring now that ok selects, in bytes a second.
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

// observe takes a sample of the running step.
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

// patience is how long after the dial a step can be found to pay: one round trip to connect, one to the first bytes, and
// some of the next to see what the others do meanwhile.
func patience(rtt time.Duration) time.Duration { return rtt * 5 / 2 }

// ripening is how long a connection flows at least before it is past slow start, and was watched long enough.
func (g *growth) ripening() time.Duration {
	if g.careful {
		return 3 * time.Second / 2
	}
	return 300 * time.Millisecond
}

// judge gives the verdict on the running step. It pays as soon as most of what the newcomers bring comes on top of what
// the others brought before. That it does not pay is decided only when they are past slow start.
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

// conclude ends the running step with a verdict. It returns how many of its connections to close again.
func (g *growth) conclude(v verdict, s sample) (cut int) {
	g.measuring = false
	if v == pays || v == tooLate {
		if g.mode != GrowSingle {
			g.step = min(2*g.step, 4)
		}
		return 0
	}
	if g.mode == GrowSingle {
		g.ended, g.full = true, true // the RFC does not ask to close what was opened
		return 0
	}
	if s.newcomer > 0 { // keep as many as were worth it
		gain := max(0, s.incumbent+s.newcomer-g.before)
		cut = g.added - int(float64(g.added)*min(1, gain/s.newcomer))
	}
	g.ended = g.added == 1
	g.full = g.ended
	g.step = 1
	g.allowed = max(1, g.allowed-cut)
	return cut
}

// moot ends a step that cannot be judged, because none of its connections came about.
func (g *growth) moot() {
	g.measuring = false
	g.allowed = max(1, g.allowed-g.added)
}

// limit ends growth with so many connections: more add nothing.
func (g *growth) limit(allowed int) { g.allowed, g.ended = allowed, true }

// restart lets growth begin anew, with more time to look.
func (g *growth) restart() { g.ended, g.full, g.step, g.careful = false, false, 1, true }

func joined(m *mirror) bool { return m.joined }
