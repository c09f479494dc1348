package scheduler

import (
	"cmp"
	"math"
	"slices"
)

// A turn is a change of what all sources together bring.
type turn struct {
	at    float64 // seconds from now
	speed float64 // bytes a second more, or less
}

// horizon is in how many seconds everything would be here if what is missing were spread in the best way over the
// sources in use, and m: those that deliver pause for a request when they are through with their range, the others
// begin when a request has brought its first bytes. What a source cannot bring by then is for others. It is infinite
// when nobody is in use.
func (s *Scheduler) horizon(m *mirror) float64 {
	turns := s.turns[:0]
	for _, o := range s.sources {
		if o.open || o.planned || o == m {
			turns = s.turnsOf(turns, o)
		}
	}
	s.turns = turns
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	return meet(turns, float64(s.missing()))
}

// turnsOf appends what a source adds.
func (s *Scheduler) turnsOf(turns []turn, m *mirror) []turn {
	speed := m.speed
	if speed == 0 {
		speed = s.guess()
	}
	f := m.running
	if f == nil || f.got == 0 {
		return append(turns, turn{s.lag(m, speed, m.alive), speed})
	}
	through := float64(f.left()) / max(speed, 1)
	again := through + s.lag(m, speed, !f.cut)
	return append(turns, turn{0, speed}, turn{through, -speed}, turn{again, speed})
}

// meet is when n bytes are here, given the turns in the order of time.
func meet(turns []turn, n float64) float64 {
	now, speed := 0.0, 0.0
	for _, t := range turns {
		if brings := speed * (t.at - now); brings < n {
			n -= brings
		} else if speed > 0 {
			return now + n/speed
		}
		now, speed = t.at, max(0, speed+t.speed)
	}
	if speed <= 0 {
		return math.Inf(1)
	}
	return now + n/speed
}
