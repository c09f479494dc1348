package scheduler

import "time"

// A GrowthMode says how many connections are added at a time.
type GrowthMode uint8

const (
	// GrowDoubling opens one, then two, four, as long as each step pays. RFC 6249, section 7, says
	// "an additional connection"; the reasons for more are in doc/decisions.
	GrowDoubling GrowthMode = iota
	// GrowSingle is the letter of RFC 6249, section 7: one at a time.
	GrowSingle
)

// growth decides how many connections are worth having, from the aggregate speed before and after
// some were added (C6, S11). While a step is being measured it allows no further one (S12), and once
// a single one did not pay it allows none until an established one closes (S13).
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
	answered  bool          // one of the new ones has answered
	ripe      bool          // the new ones are past slow start, or were given up
}

// A verdict is what a sample means.
type verdict uint8

const (
	undecided verdict = iota
	pays
	doesNotPay
	tooLate // nothing was heard of the new ones yet: they are judged later
)

// more tells how many connections may be opened now, given how many are and from how many of them nothing was
// heard yet. It begins a measurement when the caller says with dial that it opened them.
func (g *growth) more(open, late int) int {
	if g.measuring || g.ended {
		return max(0, g.allowed-open)
	}
	step := g.step
	if late > 0 {
		step = max(1, min(step, stragglers-late))
	}
	return max(0, min(g.allowed+step, g.most)-open)
}

// dial notes that k connections beyond the allowed were opened, and what the others brought before.
func (g *growth) dial(now time.Time, k int, before float64) {
	g.measuring, g.dialed, g.added, g.before = true, now, k, before
	g.allowed += k
	g.fresh = false
}

// stragglers: when nothing was heard of so many connections, those that follow come one by one.
const stragglers = 4

// patience is how long after the dial a step can be found to pay: one round trip to connect, one to the first bytes, and
// some of the next to see what the others do meanwhile.
func patience(rtt time.Duration) time.Duration { return rtt * 5 / 2 }

// judge gives the verdict on the running step. It pays as soon as most of what the newcomers bring
// comes on top of what the others brought before; that it does not is believed only when they are
// past slow start.
func (g *growth) judge(now time.Time, s sample) verdict {
	if !g.measuring || now.Sub(g.dialed) < patience(s.rtt) {
		return undecided
	}
	gain := s.incumbent + s.newcomer - g.before
	switch {
	case !s.answered && g.mode == GrowDoubling:
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

// ripening is how long a connection flows at least before it is past slow start, and was watched long enough.
func (g *growth) ripening() time.Duration {
	if g.careful {
		return 3 * time.Second / 2
	}
	return 300 * time.Millisecond
}

// gainShare is the share of the newcomers' speed that must be gain.
const gainShare = 0.3

// conclude ends the running step with a verdict and tells how many of its connections to close again.
func (g *growth) conclude(v verdict, s sample) (cut int) {
	g.measuring = false
	if v == pays || v == tooLate {
		if g.mode == GrowDoubling {
			g.step = min(2*g.step, 4)
		}
		return 0
	}
	if g.mode == GrowSingle {
		g.ended, g.full = true, true // S13; the RFC does not ask to close what was opened
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
