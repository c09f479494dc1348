package scheduler

import (
	"slices"
	"time"

	"braid/byterange"
)

const (
	lookOften  = 20 * time.Millisecond
	lookSeldom = 100 * time.Millisecond

	trialTime = 3 * time.Second  // a mirror that fell silent is tried again only if the rest of the file takes longer
	lastTime  = 10 * time.Second // a last resort is used beside other mirrors only if the rest of the file takes longer
)

// decide makes all decisions. It runs after each event that may require a decision, and at the wake time.
func (s *Scheduler) decide() {
	if s.finished() {
		return
	}
	s.judge.review()
	s.peak = max(s.peak, s.mirrors.measure(s.clock.now))
	s.trim.review()
	s.trim.regrow()
	if s.ranges.size < 0 {
		s.first()
	} else {
		s.assignment.extend()
		s.grow()
		s.swap()
		s.place()
		if !s.growth.measuring && !s.trim.running {
			s.tail.relieve()
		}
	}
	s.next = s.wake()
}

// finished ends the download when all bytes are present and checked, or when no source can deliver more. It reports
// whether there is nothing else to decide.
func (s *Scheduler) finished() bool {
	if s.ranges.missing() == 0 && s.checks.pieces.open == 0 {
		for f := range s.requests.active() {
			s.requests.cancel(f, ReasonDone)
		}
		if s.requests.len() == 0 {
			s.over = true
			s.actions.add(Finish{})
		}
		s.next = time.Time{}
		return true
	}
	if s.requests.len() > 0 || len(s.mirrors) == 0 || s.checks.pieces.open > 0 || slices.ContainsFunc(s.mirrors,
		func(m *mirror) bool { return !m.gone() }) {
		return false
	}
	s.over = true
	s.actions.add(Fail{})
	return true
}

// first asks one mirror for the whole file while its size is unknown.
func (s *Scheduler) first() {
	if s.requests.len() > 0 {
		return
	}
	if m := s.candidate(); m != nil {
		from := s.ranges.first(0)
		s.requests.start(m, byterange.Range{Start: from, End: byterange.Unbounded}, from == 0, ReasonFirst)
	}
}

// grow judges the connections that were opened last.
func (s *Scheduler) grow() {
	if !s.growth.measuring {
		return
	}
	smp := s.growth.observe(s.clock.now, s.mirrors)
	v := s.growth.judge(s.clock.now, smp)
	switch {
	case smp.alive == 0:
		s.growth.moot()
	case v == undecided:
		return
	default:
		fresh := s.mirrors.which(joined)
		slices.SortStableFunc(fresh, bySlowness)
		for _, m := range fresh[:min(s.growth.conclude(v, smp), len(fresh))] {
			s.requests.close(m, ReasonUseless)
		}
	}
	for _, m := range s.mirrors {
		m.settle(v == tooLate && smp.alive > 0)
	}
}

// swap replaces open mirrors by other mirrors, after growth has determined how many are worth having.
func (s *Scheduler) swap() {
	g, now := &s.growth, s.clock.now
	if g.measuring || s.trim.running || now.Before(s.exchange.due) || s.estimates.remaining() < exchangeLeast {
		return
	}
	if !g.ended && g.allowed < g.most || s.mirrors.count() < g.allowed || !s.mirrors.flowing(now, s.exchange.watched()) {
		return
	}
	s.exchange.swap(s.candidate())
}

// place assigns ranges to free mirrors, the fastest first, and opens new mirrors if growth allows.
func (s *Scheduler) place() {
	var free mirrors
	for _, m := range s.mirrors {
		switch {
		case !m.open() || m.running != nil:
		case !s.mirrors.allowed(m, s.ranges.size): // m would stay open without work, while other mirrors wait
			m.becomeClosed()
		case s.requests.free(m):
			free = append(free, m)
		}
	}
	slices.SortStableFunc(free, bySpeed)
	for _, m := range free {
		if s.requests.at(m.host) < s.cfg.PerHost { // another mirror on the same host may have got a range
			s.feed(m, ReasonNext)
		}
	}
	s.expand()
}

// expand opens further mirrors.
func (s *Scheduler) expand() {
	g := &s.growth
	before, open := g.brings(s.clock.now, s.mirrors, everyone), s.mirrors.count()+s.requests.leaving()
	if g.fresh {
		g.plan(s.mirrors.plan(s.cfg.Aggregate))
	}
	var added []*mirror
	for range g.more(open, len(s.mirrors.which(func(m *mirror) bool { return m.late }))) {
		if open+len(added) > 0 && !s.worthwhile() {
			break
		}
		m := s.candidate()
		if m == nil || !s.feed(m, s.exchange.opening(m)) {
			break
		}
		added = append(added, m)
	}
	if len(added) == 0 {
		added = s.expandLast()
	}
	for _, m := range s.mirrors {
		m.becomeUntried()
	}
	if k := open + len(added) - g.allowed; k > 0 && len(added) > 0 {
		g.dial(s.clock.now, k, before, added)
	}
}

// expandLast opens a mirror of last resort in addition to the mirrors that growth allows, unless growth or a trial has
// shown that the open mirrors fill the link.
func (s *Scheduler) expandLast() []*mirror {
	open := s.mirrors.count() + s.requests.leaving()
	if s.growth.measuring || s.growth.full || s.trim.running || s.trim.sure || open >= s.growth.most {
		return nil
	}
	m := s.candidate()
	if m == nil || !m.last || !s.worthwhile() || !s.feed(m, s.exchange.opening(m)) {
		return nil
	}
	return []*mirror{m}
}

// candidate returns the mirror to open next: the preferred untried mirror, otherwise the fastest closed mirror, or nil.
func (s *Scheduler) candidate() (best *mirror) {
	for _, m := range s.mirrors {
		free := !m.open() && m.running == nil && s.requests.free(m) && s.mirrors.allowed(m, s.ranges.size)
		if !free || m.last && !s.lastResort(m) {
			continue
		}
		if best == nil || preferred(m, best) {
			best = m
		}
	}
	return best
}

// lastResort reports whether m, a mirror of last resort, may be used now: no other mirror is usable, or the other
// mirrors have worked long enough to show that they are slow.
func (s *Scheduler) lastResort(m *mirror) bool {
	if s.mirrors.count()+s.requests.leaving() > 0 {
		return s.mirrors.flowing(s.clock.now, s.mirrors.settlePeriod()) && s.estimates.remaining() > lastTime
	}
	return !slices.ContainsFunc(s.mirrors, func(o *mirror) bool {
		return o != m && !o.last && o.usable(s.clock.now) && s.mirrors.allowed(o, s.ranges.size)
	})
}

// feed assigns a range to m, and reports whether it found a range.
func (s *Scheduler) feed(m *mirror, why Reason) bool {
	if m.noRanges { // ask for the whole file, and only if no other mirror can serve it
		if s.requests.len() > 0 || s.mirrors.ranged(m) {
			return false
		}
		s.requests.start(m, byterange.Range{}, true, why)
		return true
	}
	if m.trust == silenced && s.ranges.size >= 0 && s.requests.len() > 0 && s.estimates.remaining() < trialTime {
		return false // the other mirrors finish before a trial could help
	}
	if s.checks.repair(m) || !m.doubtful() && s.tail.hurry(m, why) {
		return true
	}
	if r := s.assignment.gapFor(m); !r.Empty() {
		s.requests.start(m, r, false, why)
		return true
	}
	return s.tail.steal(m, why)
}

// worthwhile reports whether the download will last long enough for another connection to help. A new connection
// delivers nothing for two round trips. A young connection doubles its speed in each round trip.
func (s *Scheduler) worthwhile() bool {
	left, rtt := float64(s.ranges.missing()), s.mirrors.medianRTT()
	if left <= firstWant && !s.drags() {
		return false
	}
	speed, young := 0.0, true
	for _, m := range s.mirrors {
		if m.open() && m.meter.total > 0 {
			speed += m.speed
			young = young && s.clock.now.Sub(m.meter.flow) < 8*rtt
		}
	}
	soon := max(300*time.Millisecond, 6*rtt).Seconds()
	if young {
		soon = 16 * rtt.Seconds()
	}
	return left > speed*soon
}

// drags reports whether the missing bytes take long although they are few: all requests have run long enough to show
// that their mirrors are slow.
func (s *Scheduler) drags() bool {
	return s.requests.len() > 0 && s.estimates.remaining() > trialTime &&
		!s.requests.any(func(f *fetch) bool { return s.clock.now.Sub(f.since) < silence })
}

// wake returns when to decide again: soon while something is measured, otherwise less often.
func (s *Scheduler) wake() (next time.Time) {
	if s.requests.len() > 0 {
		look := lookSeldom
		if s.growth.measuring {
			rtt := s.mirrors.medianRTT()
			look = min(max(rtt/2, lookOften), lookSeldom)
			if first := s.growth.dialed.Add(patience(rtt)).Sub(s.clock.now); first > 0 {
				look = min(look, max(first, time.Millisecond))
			}
		}
		return s.clock.now.Add(look)
	}
	for _, m := range s.mirrors {
		if !m.gone() && m.until.After(s.clock.now) && (next.IsZero() || m.until.Before(next)) {
			next = m.until
		}
	}
	return next
}
