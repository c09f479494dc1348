package scheduler

import (
	"cmp"
	"slices"
	"time"
)

// A trim closes connections again that add nothing: growth is judged while the first connections are
// still getting faster, so more may be open than the client's own link can use. Nothing is tried unless
// there is a sign of that: together the sources bring much less than each has shown that it can.
type trim struct {
	running bool
	next    time.Time // not before
	since   time.Time
	before  float64 // aggregate
	kept    int
	wait    time.Duration
}

const (
	crowded    = 0.7  // of what the sources have shown: below it they seem to share one link
	crowdedOne = 0.85 // the same for most of them one by one: else it is these few that got slower
	unchanged  = 0.95 // of the aggregate before: at least this is left when what was closed added nothing
	trimAgain  = 10 * time.Second
	fewest     = 2 // one that is used and one in reserve
)

// trimDown begins or ends a trial.
func (s *Scheduler) trimDown(now time.Time) {
	t := &s.trim
	period := max(time.Second, 10*s.medianRTT())
	if t.running {
		if now.Sub(t.since) < period {
			return
		}
		t.running = false
		if s.bring(now, everyone) < unchanged*t.before { // they did add something
			t.wait = max(2*t.wait, trimAgain)
			t.next = now.Add(t.wait)
			s.growth.allowed = max(s.growth.allowed, t.kept)
			return
		}
		t.next = now
	}
	if s.growth.measuring || now.Before(t.next) || !s.crowded(now, period) {
		return
	}
	open := s.inUse()
	*t = trim{running: true, since: now, before: s.bring(now, everyone), kept: len(open), wait: t.wait}
	keep := max((len(open)+1)/2, fewest)
	s.growth.allowed, s.growth.ended = keep, true
	for _, m := range open[keep:] {
		s.close(m)
		if m.running != nil {
			s.cancel(m.running, ReasonCrowded)
		}
	}
}

func everyone(*mirror) bool { return true }

// crowded tells whether the sources seem to share one link: all have been at work for a while, most of them
// bring less than their best, and together they bring much less.
func (s *Scheduler) crowded(now time.Time, period time.Duration) bool {
	sum, best, n, less := 0.0, 0.0, 0, 0
	for _, m := range s.sources {
		if !m.open {
			continue
		}
		if m.running == nil || m.meter.flow.IsZero() || now.Sub(m.meter.flow) < period {
			return false
		}
		n++
		speed := m.meter.over(now, period)
		sum += speed
		best += m.best
		if speed < crowdedOne*m.best {
			less++
		}
	}
	return n > fewest && sum < crowded*best && 3*less >= 2*n
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
