package scheduler

import "time"

// A source that crawls is not silent, and so it is not left; but what it still has to bring, however little that is, may take
// longer than all the rest of the file did (S16, rule 21). Whoever is free takes that from it, also if only a few bytes are
// left, if it was to bring them alone, or if it answers with whole files: all that otherwise is a reason to let it go on costs
// less than the wait.

const (
	crawlTime = 0.5 // seconds that are gained at least: a request for a few bytes is worth that
	crawl     = 0.1 // of its speed: who brings less than that for a while has another one
)

// crawls tells whether m would be through with what f has left long before f is. Who answers with the whole file has to begin
// anew when it is stopped: nobody stops it on trial.
func (s *Scheduler) crawls(now time.Time, f *fetch, m *mirror) bool {
	if f.got == 0 || f.left() == 0 || f.src.unit.whole() || m.unit.whole() || m.doubt && f.src.norange {
		return false
	}
	ours := m.speed
	if ours == 0 {
		ours = max(s.guess(), firstWant/2)
	}
	return s.eta(now, f) > s.lag(m, ours, m.alive)+float64(f.left())/ours+crawlTime
}

// overtake gives m all that f, which crawls, has left.
func (s *Scheduler) overtake(now time.Time, f *fetch, m *mirror, why Reason) bool {
	if !f.alone {
		s.take(now, f, f.pos, m, why)
		return true
	}
	s.cancel(f, ReasonSlow)
	s.close(f.src) // else the piece is kept for it
	return s.repair(now, m)
}

// slows notes the speed of a source that drips: each byte that comes after a pause begins a new flow, of which nothing is
// known for a while, and its speed from before would stand for ever.
func (s *Scheduler) slows(now time.Time, f *fetch) {
	if f.got == 0 || now.Sub(f.since) < silence {
		return
	}
	if over := f.src.meter.over(now, silence); over > 0 && (f.src.speed == 0 || over < crawl*f.src.speed) {
		f.src.speed = over
	}
}

// drags tells whether a rest for which no connection would be opened takes long all the same: those at work were
// watched and are too slow for it.
func (s *Scheduler) drags(now time.Time) bool {
	for _, f := range s.order {
		if now.Sub(f.since) < silence {
			return false
		}
	}
	return len(s.order) > 0 && s.remaining() > trialTime
}

// idles tells whether nobody at work will be free to bring n bytes before m would have brought them, so that it is for m, however
// little that is.
func (s *Scheduler) idles(now time.Time, m *mirror, n float64) bool {
	ours := s.lag(m, m.speed, m.alive) + n/m.speed + crawlTime
	for _, f := range s.order {
		o := f.src
		if f.ending || o.norange {
			continue
		}
		if f.got == 0 || s.eta(now, f)+s.lag(o, o.speed, !f.cut)+n/max(o.speed, 1) < ours {
			return false
		}
	}
	return true
}
