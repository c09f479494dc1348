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
	look    time.Duration // over which its end is judged: the others need some time to take over
	level   float64       // the aggregate before it
	least   float64       // the aggregate, if what was closed added nothing
	nothing float64       // the aggregate, if nobody takes over what was closed
	kept    int
	wait    time.Duration
	again   time.Time // when growth may begin anew
	pause   time.Duration
}

const (
	crowded    = 0.7  // of what the sources have shown: below it they seem to share one link
	crowdedOne = 0.85 // the same for most of them one by one: else it is these few that got slower
	unchanged  = 0.9  // of the aggregate before: at least this is left when what was closed added nothing
	revoked    = 0.8  // of it: with less the verdict was wrong, or is by now
	probed     = 0.15 // of the aggregate: what is closed when there is no sign

	trimAgain  = 10 * time.Second
	trimLeast  = 5 * time.Second  // the download lasts so much longer at least: else nothing can be won
	probeLeast = 15 * time.Second // the same when there is no sign
	growAgain  = time.Minute
	fewest     = 2 // one that is used and one in reserve
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
		slices.SortStableFunc(open, wholeFirst)
		keep = max(keep, s.fastest(open, 1-probed))
	}
	closed := s.shareOf(open[keep:])
	if !sign && (closed < probed/2 || open[keep].unit.whole()) { // too little to be noticed, or too dear
		t.next = now.Add(trimAgain)
		return
	}
	level := max(s.mean(now, time.Second), s.mean(now, 4*time.Second))
	if t.sure { // those that were closed are not in the means any more
		level = max(level, t.level)
	}
	*t = trim{running: true, since: now, kept: len(open), level: level, wait: t.wait, again: t.again, pause: t.pause}
	if t.look = time.Second; closed > 2*probed { // a large change shows in less
		t.look = 400 * time.Millisecond
	}
	t.least, t.nothing = level*max(unchanged, 1-closed/3), level*(1-0.7*closed)
	s.growth.allowed, s.growth.ended = keep, true
	for _, m := range open[keep:] {
		s.close(m)
		if m.running != nil {
			s.cancel(m.running, ReasonCrowded)
		}
	}
}

// regrow lets growth begin anew: when those that a trial left bring much less than all did before it, and after a long
// while, as the network, or a verdict, may have been another one then.
func (s *Scheduler) regrow(now time.Time) {
	t := &s.trim
	switch {
	case !s.growth.ended || s.growth.mode != GrowDoubling || t.running:
		t.again = time.Time{}
		return
	case t.again.IsZero():
		t.pause = max(t.pause, growAgain)
		t.again = now.Add(t.pause)
	}
	switch {
	case t.level > 0 && now.Sub(t.since) > 2*s.settlePeriod() && s.mean(now, 2*s.settlePeriod()) < revoked*t.level:
		s.growth.allowed = max(s.growth.allowed, t.kept)
		t.delay(now)
	case now.After(t.again) && s.remaining() > growAgain:
		t.pause *= 2
	default:
		return
	}
	s.growth.ended, s.growth.full, s.growth.step, s.growth.careful = false, false, 1, true
}

// delay lets more and more time go by before the next trial.
func (t *trim) delay(now time.Time) {
	t.sure, t.level = false, 0
	t.wait = max(2*t.wait, trimAgain)
	t.next = now.Add(t.wait)
}

// endTrial gives the verdict on what was closed, when it is time.
func (s *Scheduler) endTrial(now time.Time) bool {
	t := &s.trim
	lasts := now.Sub(t.since)
	if lasts < t.look+200*time.Millisecond {
		return false
	}
	got := s.mean(now, t.look)
	t.sure = got >= t.least
	if patience := 10 * s.medianRTT(); !t.sure && (lasts < patience || got > t.nothing && lasts < 1300*time.Millisecond) {
		return false
	}
	t.running, t.next = false, now
	if !t.sure { // they did add something
		t.delay(now)
		s.growth.allowed = max(s.growth.allowed, t.kept)
	}
	return true
}

// wholeFirst orders sources so that those that give pieces are kept. Peers do not let somebody who was away for a moment go on at once:
// a trial for which nothing speaks costs tens of seconds of what a swarm brings.
func wholeFirst(a, b *mirror) int {
	switch whole := a.unit.whole(); {
	case whole == b.unit.whole():
		return 0
	case whole:
		return -1
	}
	return 1
}

func everyone(*mirror) bool { return true }

// mean is what all sources together brought in the last period, in bytes a second. It is long: a source may pause for a
// moment to measure its path, and so may all at once.
func (s *Scheduler) mean(now time.Time, period time.Duration) (sum float64) {
	for _, m := range s.sources {
		if m.open {
			sum += m.meter.over(now, period)
		}
	}
	return sum
}

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
		speed := max(m.meter.over(now, s.settlePeriod()), m.meter.over(now, 2*s.settlePeriod())) // see mean
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
