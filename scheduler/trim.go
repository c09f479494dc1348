package scheduler

import (
	"cmp"
	"slices"
	"time"
)

// A trim closes connections again that add nothing: growth is judged while the first connections are
// still getting faster, so more may be open than the client's own link can use. If together the sources bring
// much less than each has shown that it can, half of them is closed on trial. Without such a sign a few are,
// now and then, if the download lasts long enough: when that changes nothing it is a sign.
type trim struct {
	running bool
	sure    bool      // the last trial changed nothing
	next    time.Time // not before
	since   time.Time
	least   float64 // the aggregate, if what was closed added nothing
	kept    int
	wait    time.Duration
}

const (
	crowded    = 0.7  // of what the sources have shown: below it they seem to share one link
	crowdedOne = 0.85 // the same for most of them one by one: else it is these few that got slower
	unchanged  = 0.95 // of the aggregate before: at least this is left when what was closed added nothing
	probed     = 0.15 // of the aggregate: what is closed when there is no sign

	trimAgain  = 10 * time.Second
	trimLeast  = 5 * time.Second  // the download lasts so much longer at least: else nothing can be won
	probeLeast = 15 * time.Second // the same when there is no sign
	fewest     = 2                // one that is used and one in reserve
)

// trimDown begins or ends a trial.
func (s *Scheduler) trimDown(now time.Time) {
	t := &s.trim
	if t.running && !s.endTrial(now) {
		return
	}
	if s.growth.measuring || now.Before(t.next) || s.remaining() < trimLeast || s.opened() <= fewest || !s.flowing(now) {
		return
	}
	sign := t.sure || s.crowded(now)
	if !sign && (s.remaining() < probeLeast || !s.alike()) {
		return
	}
	open := s.inUse()
	keep := max((len(open)+1)/2, fewest)
	if !sign {
		keep = max(keep, s.fastest(open, 1-probed))
	}
	closed := s.shareOf(open[keep:])
	if !sign && closed < probed/2 { // too little to be noticed
		t.next = now.Add(trimAgain)
		return
	}
	*t = trim{running: true, since: now, kept: len(open), wait: t.wait}
	t.least = s.bring(now, everyone) * max(unchanged, 1-closed/3)
	s.growth.allowed, s.growth.ended = keep, true
	for _, m := range open[keep:] {
		s.close(m)
		if m.running != nil {
			s.cancel(m.running, ReasonCrowded)
		}
	}
}

// endTrial gives the verdict on what was closed, when it is time.
func (s *Scheduler) endTrial(now time.Time) bool {
	t := &s.trim
	if now.Sub(t.since) < max(time.Second, 10*s.medianRTT()) {
		return false
	}
	t.running, t.next = false, now
	t.sure = s.bring(now, everyone) >= t.least
	if !t.sure { // they did add something
		t.wait = max(2*t.wait, trimAgain)
		t.next = now.Add(t.wait)
		s.growth.allowed = max(s.growth.allowed, t.kept)
	}
	return true
}

func everyone(*mirror) bool { return true }

// settlePeriod is how long sources are watched before they are compared. A pause that a sender makes to measure
// its path is short beside it.
func (s *Scheduler) settlePeriod() time.Duration { return max(2*time.Second, 10*s.medianRTT()) }

// crowded tells whether the sources seem to share one link: most of them bring less than their best, and together
// they bring much less.
func (s *Scheduler) crowded(now time.Time) bool {
	sum, best, n, less := 0.0, 0.0, 0, 0
	for _, m := range s.sources {
		if !m.open {
			continue
		}
		n++
		speed := m.meter.over(now, s.settlePeriod())
		sum += speed
		best += m.top
		if speed < crowdedOne*m.top {
			less++
		}
	}
	return sum < crowded*best && 3*less >= 2*n
}

// alike tells whether many of the sources bring about the same, as those do that share a link: the same each, or each
// in proportion to how near it is.
func (s *Scheduler) alike() bool {
	var speeds, windows []float64
	for _, m := range s.sources {
		if m.open {
			speeds = append(speeds, m.speed)
			windows = append(windows, m.speed*m.rtt.Seconds())
		}
	}
	return level(speeds) || level(windows)
}

// level tells whether at least half of the values, and three of them, are near the highest.
func level(values []float64) bool {
	n, top := 0, slices.Max(values)
	for _, v := range values {
		if v > 0.6*top {
			n++
		}
	}
	return n >= 3 && 2*n >= len(values)
}

// inUse lists the open sources, the fastest first.
func (s *Scheduler) inUse() (out []*mirror) {
	for _, m := range s.sources {
		if m.open {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b *mirror) int { return cmp.Compare(b.speed, a.speed) })
	return out
}

// fastest counts how many of the fastest bring at most a share of what all bring.
func (s *Scheduler) fastest(open []*mirror, share float64) (n int) {
	left := share * s.aggregate()
	for _, m := range open {
		if left -= m.speed; left < 0 {
			break
		}
		n++
	}
	return n
}

// shareOf is the part that some of the sources have in what all bring.
func (s *Scheduler) shareOf(some []*mirror) float64 {
	sum := 0.0
	for _, m := range some {
		sum += m.speed
	}
	return sum / max(s.aggregate(), 1)
}
