package scheduler

import (
	"time"

	"braid/byterange"
)

// minSteal is the least that is worth a request of its own.
const minSteal = 64 << 10

// steal takes for m the part of another's range that m would finish sooner, when nothing is left
// that nobody works on. What holds up the front goes first; else what would take longest.
func (s *Scheduler) steal(now time.Time, m *mirror) bool {
	victim := s.victim(now, m)
	if victim == nil {
		return false
	}
	split := s.split(now, victim, m)
	if split == 0 {
		return false
	}
	r := byterange.Range{Start: split, End: victim.end}
	s.shrink(victim, split, ReasonSplit)
	s.start(now, m, r, false, ReasonSplit)
	return true
}

// victim chooses whose range to split for m.
func (s *Scheduler) victim(now time.Time, m *mirror) *fetch {
	blocked := s.window().End < s.size
	var worst *fetch
	var longest float64
	for _, f := range s.order {
		if f.ending || f.src == m || f.src.norange || f.left() < minSteal {
			continue
		}
		if blocked {
			if worst == nil || f.pos < worst.pos {
				worst = f
			}
			continue
		}
		if t := s.eta(now, f); worst == nil || t > longest {
			worst, longest = f, t
		}
	}
	return worst
}

// pace is how fast a fetch goes now, in bytes a second.
func (s *Scheduler) pace(now time.Time, f *fetch) float64 {
	if f.got == 0 && f.src.doubt {
		return 0
	}
	if f.got == 0 || now.Sub(f.src.meter.flow) < 10*slotWidth {
		if now.Sub(f.heard) > lively {
			return 0
		}
		if f.src.speed > 0 {
			return f.src.speed
		}
		return s.guess()
	}
	return f.src.meter.over(now, time.Second)
}

// eta is how many seconds a fetch still needs.
func (s *Scheduler) eta(now time.Time, f *fetch) float64 {
	return float64(f.left()) / max(s.pace(now, f), 1)
}

// split is where the range of f is to be cut so that f and m finish their parts at the same time; 0
// when that gains nothing worth a request.
func (s *Scheduler) split(now time.Time, f *fetch, m *mirror) int64 {
	theirs, ours := max(s.pace(now, f), 1), m.speed
	if ours == 0 {
		ours = s.guess()
	}
	rtt := m.rtt
	if rtt == 0 {
		rtt = s.medianRTT()
	}
	delay := 2 * rtt.Seconds() // until its first byte
	left := float64(f.left())
	keep := theirs * (delay*ours + left) / (theirs + ours)
	gain := (left - keep) / theirs
	if gain < max(2*delay, 0.1) || left-keep < minSteal {
		return 0
	}
	return f.pos + int64(keep)
}
