package scheduler

import "time"

// Who crawls may hold the only place that there is: growth has ended with it, or the user wants one source at a time, or the others
// answer with whole files and are kept for when there are no ranges. Then whoever could bring the rest waits, for as long as
// a range of bytes that drip takes. So every wait is compared with what others could do: a fetch that was watched for relieveTime,
// and needs a minimum and many times what a source without a place would, makes room for that one.
const (
	relieveTime  = 5 * time.Second
	relieveLeast = 10 // seconds that it still needs
	relieveTimes = 10 // times what the other needs
	relieveOpen  = 10 // times both, if the other has a place
)

// relieve ends the fetch that holds up the rest for longest, if a source that waits would be through much sooner.
func (s *Scheduler) relieve(now time.Time) {
	if s.growth.measuring || s.trim.running {
		return
	}
	var worst *fetch
	var eta float64
	for _, f := range s.order {
		if t := s.drips(now, f); t > eta {
			worst, eta = f, t
		}
	}
	if worst == nil || eta < relieveLeast {
		return
	}
	for _, m := range s.sources {
		times := 1.0
		if m.open { // it has a place, and was not to split the range, for one of the reasons that hold in general
			times = relieveOpen
		}
		if m != worst.src && s.waits(now, m) && eta > times*relieveLeast && eta > times*relieveTimes*s.alone(m, worst) {
			worst.src.crawler = true
			s.cancel(worst, ReasonSlow)
			s.close(worst.src)
			return
		}
	}
}

// drips is how many seconds a fetch still needs, if it was watched for long enough and goes on; else 0.
func (s *Scheduler) drips(now time.Time, f *fetch) float64 {
	if f.ending || f.got == 0 || f.src.unit.whole() || now.Sub(f.since) < relieveTime || now.Sub(f.heard) > silence*3/4 {
		return 0
	}
	return float64(f.left()) / max(f.src.meter.over(now, relieveTime), 1)
}

// waits reports whether a source has nothing to do, and could begin now.
func (s *Scheduler) waits(now time.Time, m *mirror) bool {
	return m.running == nil && !m.crawler && !m.last && s.usable(now, m) && s.requests(m.host) < s.cfg.PerHost &&
		(!m.norange || len(s.order) == 1)
}

// alone is how many seconds m needs for what f has left: for the whole file if it gives no ranges.
func (s *Scheduler) alone(m *mirror, f *fetch) float64 {
	ours, n := m.speed, f.left()
	if ours == 0 {
		ours = max(s.guess(), firstWant/2)
	}
	if m.norange {
		n = s.size
	}
	return s.lag(m, ours, m.alive) + float64(n)/ours
}
