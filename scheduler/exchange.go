package scheduler

import "time"

// exchangeLeast: the download lasts so much longer at least, or trying another source cannot pay.
const exchangeLeast = 10 * time.Second

// exchange closes the weakest source so that one that was never tried takes its place (S13: an established connection
// closes), once in a period, until each was tried. What then turns out to be the weakest makes room for the next. At the
// end those come back, once, that did more than who is in their place now.
func (s *Scheduler) exchange(now time.Time) {
	if s.growth.measuring || s.trim.running || now.Before(s.exchanged) || s.remaining() < exchangeLeast {
		return
	}
	if !s.growth.ended && s.growth.allowed < s.growth.most || s.opened() < s.growth.allowed || !s.flowing(now) {
		return
	}
	next, weak := s.candidate(now), s.weakest()
	if next == nil || weak == nil || next.doubt || next.last {
		return
	}
	if next.tried && (next.returned || next.speed < muchFaster*weak.speed) {
		return
	}
	next.returned, next.exchanged = next.tried, true // it gets the place when the other's connection is closed
	s.exchanged = now.Add(s.settlePeriod())
	s.close(weak)
	if weak.running != nil {
		s.cancel(weak.running, ReasonExchange)
	}
}

// muchFaster is how much faster a source was that comes back in the place of another.
const muchFaster = 1.3

// flowing tells whether all open sources are at work, for long enough to compare them.
func (s *Scheduler) flowing(now time.Time) bool {
	for _, m := range s.sources {
		if m.open && (m.running == nil || m.meter.flow.IsZero() || now.Sub(m.meter.flow) < s.settlePeriod()+m.warming()) {
			return false
		}
	}
	return true
}

// weakest is the slowest of the open sources, but never the only one, and none that gives pieces: what that costs see wholeFirst.
func (s *Scheduler) weakest() (weak *mirror) {
	n := 0
	for _, m := range s.sources {
		if !m.open || m.unit.whole() {
			continue
		}
		if n++; weak == nil || m.speed < weak.speed {
			weak = m
		}
	}
	if n < 2 {
		return nil
	}
	return weak
}
