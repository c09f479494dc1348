package scheduler

import (
	"cmp"
	"slices"
	"time"
)

// A Speed is what a source showed that it can do.
type Speed struct {
	Source SourceID
	Host   string        // as it answered
	Rate   float64       // in bytes a second: the highest mean of 3 s, or less if it collapsed; 0: it failed
	RTT    time.Duration // 0: unknown
}

// Speeds tells what was learned of the sources that were seen at work for a second or more, or were remembered and failed,
// for those who want to remember it, in the order in which the sources were added.
func (s *Scheduler) Speeds() (out []Speed) {
	for _, m := range s.sources {
		if m.top == 0 && (m.speed == 0 || !m.doubt) {
			continue
		}
		rate := m.top
		if m.speed < collapsed*m.top {
			rate = m.speed
		}
		if m.gone || m.doubt {
			rate = 0
		}
		out = append(out, Speed{m.id, m.host, rate, m.rtt})
	}
	return out
}

// collapsed is the part of what a source once did below which that says nothing any more.
const collapsed = 0.25

// Peak is the most that all sources together brought over a second, in bytes a second.
func (s *Scheduler) Peak() float64 { return s.peak }

// topPeriod is how long a source must do what is remembered of it. Losses, and buffers on the way, let bytes come in bursts
// that are faster than the path, even over a second.
const topPeriod = 3 * time.Second

// notePeak keeps the highest speeds. It is called some ten times a second.
func (s *Scheduler) notePeak(now time.Time) {
	sum := 0.0
	for _, m := range s.sources {
		if m.meter.flow.IsZero() {
			continue
		}
		sum += m.meter.over(now, time.Second)
		if age := now.Sub(m.meter.flow); age > time.Second {
			m.top = max(m.top, m.meter.over(now, min(age, topPeriod)))
		}
	}
	s.peak = max(s.peak, sum)
}

// remembered counts the sources to open at once, as it is known that they are worth it: the fastest of those whose
// speed is remembered, until together they should bring what was once reached. The work is planned for all of them.
func (s *Scheduler) remembered() (n int) {
	var known []*mirror
	sum := 0.0
	for _, m := range s.sources {
		switch {
		case m.open:
			sum += m.speed
		case m.speed > 0 && !m.tried && !m.gone:
			known = append(known, m)
		}
	}
	slices.SortStableFunc(known, func(a, b *mirror) int { return cmp.Compare(b.speed, a.speed) })
	for _, m := range known {
		if s.cfg.Aggregate > 0 && sum >= s.cfg.Aggregate {
			break
		}
		sum += m.speed
		m.planned = true
		n++
	}
	return n
}
