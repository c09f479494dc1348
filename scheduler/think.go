package scheduler

import (
	"cmp"
	"slices"
	"time"

	"braid/byterange"
)

// think is the one place where decisions are made. It runs after every event that changes what there
// is to do, and at the wake time.
func (s *Scheduler) think(now time.Time) {
	if s.finished(now) {
		return
	}
	s.judge(now)
	s.notePeak(now)
	s.trimDown(now)
	s.regrow(now)
	if s.size < 0 {
		s.first(now)
	} else {
		s.extend(now)
		s.grow(now)
		s.exchange(now)
		s.place(now)
		s.relieve(now)
	}
	s.next = s.wake(now)
}

// finished ends the download when everything is here, or nothing more can come.
func (s *Scheduler) finished(now time.Time) bool {
	if s.missing() == 0 && s.pieces.open == 0 {
		for _, f := range s.order {
			s.cancel(f, ReasonDone)
		}
		if len(s.order) == 0 {
			s.over = true
			s.do = append(s.do, Finish{})
		}
		s.next = time.Time{}
		return true
	}
	if len(s.order) > 0 || len(s.sources) == 0 || s.pieces.open > 0 {
		return false
	}
	for _, m := range s.sources {
		if !m.gone {
			return false
		}
	}
	s.over = true
	s.do = append(s.do, Fail{})
	return true
}

// first asks one source for the whole file, as long as nobody knows how large it is.
func (s *Scheduler) first(now time.Time) {
	if len(s.order) > 0 {
		return
	}
	if m := s.candidate(now); m != nil {
		from := s.done.FirstGap(0)
		s.start(now, m, byterange.Range{Start: from, End: byterange.Unbounded}, from == 0, ReasonFirst)
	}
}

// place gives work to those that are free, the fastest first, and then to new ones as far as the
// growth allows.
func (s *Scheduler) place(now time.Time) {
	var free []*mirror
	for _, m := range s.sources {
		switch {
		case !m.open || m.running != nil:
		case !s.allowed(m): // it would keep its place, and have nothing to do, while others wait for one
			s.close(m)
		case s.usable(now, m) && s.requests(m.host) < s.cfg.PerHost:
			free = append(free, m)
		}
	}
	slices.SortStableFunc(free, func(a, b *mirror) int { return cmp.Compare(b.speed, a.speed) })
	for _, m := range free {
		if s.requests(m.host) < s.cfg.PerHost { // another name of the same host may have been served
			s.feed(now, m, ReasonNext)
		}
	}
	s.expand(now)
}

// expand opens further sources.
func (s *Scheduler) expand(now time.Time) {
	before, open := s.bring(now, everyone), s.opened()+s.leaving()
	if s.growth.fresh {
		s.growth.step = max(s.growth.step, s.remembered())
	}
	var added []*mirror
	for range s.growth.more(open, s.late()) {
		if open+len(added) > 0 && !s.worthwhile(now) {
			break
		}
		m := s.candidate(now)
		if m == nil || !s.feed(now, m, opening(m)) {
			break
		}
		added = append(added, m)
	}
	if len(added) == 0 {
		added = s.expandLast(now)
	}
	for _, m := range s.sources {
		m.planned = false
	}
	if k := open + len(added) - s.growth.allowed; k > 0 && len(added) > 0 {
		s.growth.dial(now, k, before)
		for _, m := range added {
			m.newcomer = true
		}
	}
}

// opening is why a source is opened that is not in use.
func opening(m *mirror) Reason {
	switch {
	case m.exchanged:
		m.exchanged = false
		return ReasonExchange
	case m.tried:
		return ReasonReturn
	case m.speed > 0:
		return ReasonRemembered
	}
	return ReasonGrowth
}

// leaving counts the sources that lost their place and whose connection is not closed yet.
func (s *Scheduler) leaving() (n int) {
	for _, f := range s.order {
		if f.ending && !f.src.open {
			n++
		}
	}
	return n
}

// opened counts the sources that have a place.
func (s *Scheduler) opened() (n int) {
	for _, m := range s.sources {
		if m.open {
			n++
		}
	}
	return n
}

// late counts the stragglers among the open sources.
func (s *Scheduler) late() (n int) {
	for _, m := range s.sources {
		if m.open && m.late {
			n++
		}
	}
	return n
}

// worthwhile tells whether the download will last long enough for one more connection to help: it
// brings nothing for two round trips, while those that have just begun double what they bring in each.
func (s *Scheduler) worthwhile(now time.Time) bool {
	left, rtt := float64(s.missing()), s.medianRTT()
	if left <= firstWant && !s.drags(now) {
		return false
	}
	speed, young := 0.0, true
	for _, m := range s.sources {
		if m.open && m.meter.total > 0 {
			speed += m.speed
			young = young && now.Sub(m.meter.flow) < 8*rtt
		}
	}
	soon := max(300*time.Millisecond, 6*rtt).Seconds()
	if young {
		soon = 16 * rtt.Seconds()
	}
	return left > speed*soon
}

// candidate chooses the source to open next: the untried in the order of their preference (S5, S8), then the
// fastest of those that were closed.
func (s *Scheduler) candidate(now time.Time) *mirror {
	var best *mirror
	for _, m := range s.sources {
		if m.open || m.running != nil || !s.usable(now, m) || s.requests(m.host) >= s.cfg.PerHost || !s.allowed(m) {
			continue
		}
		if m.last && !s.lastResort(now, m) {
			continue
		}
		if best == nil || preferred(m, best) {
			best = m
		}
	}
	return best
}

// allowed keeps those without ranges for when nobody else is left.
func (s *Scheduler) allowed(m *mirror) bool {
	return !m.norange || s.size < 0 || !s.ranged(m)
}

// preferred orders candidates.
func preferred(a, b *mirror) bool {
	if a.last != b.last {
		return b.last
	}
	if a.crawler != b.crawler {
		return b.crawler
	}
	if a.tried != b.tried {
		return !a.tried
	}
	return a.speed > b.speed
}

// bring is what the sources that ok selects bring now, in bytes a second.
func (s *Scheduler) bring(now time.Time, ok func(*mirror) bool) float64 {
	sum, period := 0.0, max(2*s.medianRTT(), 3*slotWidth)
	if s.growth.careful {
		period = max(period, time.Second)
	}
	for _, m := range s.sources {
		if m.open && !m.late && ok(m) {
			sum += m.meter.over(now, period)
		}
	}
	return sum
}

// medianRTT is that of the sources in use; 100 ms while nothing is known.
func (s *Scheduler) medianRTT() time.Duration {
	var all []time.Duration
	for _, m := range s.sources {
		if m.open && m.rtt > 0 {
			all = append(all, m.rtt)
		}
	}
	if len(all) == 0 {
		return 100 * time.Millisecond
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// grow judges the connections that were opened last.
func (s *Scheduler) grow(now time.Time) {
	if !s.growth.measuring {
		return
	}
	smp, alive := s.sample(now)
	if alive == 0 {
		s.growth.moot()
		s.settle(false)
		return
	}
	v := s.growth.judge(now, smp)
	if v == undecided {
		return
	}
	cut := s.growth.conclude(v, smp)
	s.cutBack(now, cut)
	s.settle(v == tooLate)
}

// sample observes the running step.
func (s *Scheduler) sample(now time.Time) (smp sample, alive int) {
	smp.rtt = s.medianRTT()
	smp.ripe = true
	smp.incumbent = s.bring(now, func(m *mirror) bool { return !m.newcomer })
	smp.newcomer = s.bring(now, func(m *mirror) bool { return m.newcomer })
	grace := now.Sub(s.growth.dialed) > max(silence, 10*smp.rtt)
	for _, m := range s.sources {
		if !m.newcomer || !m.open {
			continue
		}
		alive++
		smp.answered = smp.answered || m.meter.total > 0
		flowing := !m.meter.flow.IsZero() && now.Sub(m.meter.flow) >= max(8*m.rtt, s.growth.ripening())
		smp.ripe = smp.ripe && (flowing || grace)
	}
	return smp, alive
}

// cutBack closes the weakest n of the newcomers.
func (s *Scheduler) cutBack(now time.Time, n int) {
	var fresh []*mirror
	for _, m := range s.sources {
		if m.newcomer && m.open {
			fresh = append(fresh, m)
		}
	}
	slices.SortStableFunc(fresh, func(a, b *mirror) int { return cmp.Compare(a.speed, b.speed) })
	for _, m := range fresh[:min(n, len(fresh))] {
		s.close(m)
		if m.running != nil {
			s.cancel(m.running, ReasonUseless)
		}
	}
}

// settle makes the newcomers incumbents, or stragglers.
func (s *Scheduler) settle(late bool) {
	for _, m := range s.sources {
		m.late = m.newcomer && late || m.late && m.meter.total == 0
		m.newcomer = false
	}
}

const (
	lookOften  = 20 * time.Millisecond
	lookSeldom = 100 * time.Millisecond
)

// wake is when to think again: soon while something is measured, seldom while all goes well.
func (s *Scheduler) wake(now time.Time) time.Time {
	if len(s.order) > 0 {
		look := lookSeldom
		if s.growth.measuring {
			look = min(max(s.medianRTT()/2, lookOften), lookSeldom)
			if first := s.growth.dialed.Add(patience(s.medianRTT())).Sub(now); first > 0 {
				look = min(look, max(first, time.Millisecond))
			}
		}
		return now.Add(look)
	}
	var next time.Time
	for _, m := range s.sources {
		if !m.gone && m.until.After(now) && (next.IsZero() || m.until.Before(next)) {
			next = m.until
		}
	}
	return next
}
