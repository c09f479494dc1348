package scheduler

import (
	"slices"
	"testing"
	"time"
)

// sharing returns six mirrors that once delivered 4 MB/s each, and now deliver the given speed.
func sharing(now float64) *Scheduler {
	s := New(Config{Size: 8 * gib})
	s.clock.now = time.Unix(1e9, 0)
	for i := range SourceID(6) {
		m := opened(1, now)
		m.id, m.rtt, m.top, m.running = i, 40*ms, 4e6, &fetch{src: m}
		m.meter.epoch = s.clock.now
		s.mirrors = append(s.mirrors, m)
	}
	s.growth.allowed = 6
	s.bring(10*time.Second, now)
	return s
}

// bring makes all open mirrors deliver at the given speed for a time.
func (s *Scheduler) bring(lasts time.Duration, speed float64) {
	for end := s.clock.now.Add(lasts); s.clock.now.Before(end); s.clock.now = s.clock.now.Add(10 * ms) {
		for _, m := range s.mirrors {
			if m.open() {
				m.meter.add(s.clock.now, int64(speed/100))
			}
		}
	}
}

// If mirrors together deliver much less than they can, they share a link, and half of them is closed on trial. If the
// others deliver as much, the trial was right, and growth has ended. Otherwise all may return, and the next trial is
// later.
func TestTrial_C6(t *testing.T) {
	s := sharing(2e6)
	s.trim.review()
	if !s.trim.running || s.mirrors.count() != 3 || s.growth.allowed != 3 || !s.growth.ended {
		t.Fatalf("trial %v, %d are open, %d allowed", s.trim.running, s.mirrors.count(), s.growth.allowed)
	}
	if s.bring(100*ms, 4e6); s.trim.endTrial() {
		t.Error("the verdict came at once")
	}
	s.bring(5*time.Second, 4e6)
	if !s.trim.endTrial() || !s.trim.sure || s.growth.allowed != 3 {
		t.Errorf("the others took over: sure %v, %d allowed", s.trim.sure, s.growth.allowed)
	}

	s = sharing(2e6)
	s.trim.review()
	s.bring(5*time.Second, 2e6)
	if !s.trim.endTrial() || s.trim.sure || s.growth.allowed != 6 || s.trim.next.Sub(s.clock.now) != trimAgain {
		t.Errorf("the others bring what they did: sure %v, %d allowed, next trial in %v", s.trim.sure, s.growth.allowed,
			s.trim.next.Sub(s.clock.now))
	}
}

// Without a sign of a shared link, a few of several similar mirrors are closed on trial, but no swarm.
func TestTrialWithoutASign(t *testing.T) {
	s := sharing(4e6)
	s.trim.review()
	if !s.trim.running || s.mirrors.count() != 5 {
		t.Errorf("trial %v, %d are open", s.trim.running, s.mirrors.count())
	}
	s = sharing(4e6)
	for i, m := range s.mirrors {
		if m.speed = float64(i+1) * 1e6; i < 5 {
			m.speed /= 10
		}
	}
	if s.trim.review(); s.trim.running {
		t.Error("mirrors that are not alike were closed without a sign")
	}
	swarm, a, b := opened(mib, 1), opened(1, 3), opened(1, 2)
	if got := slices.SortedStableFunc(slices.Values([]*mirror{a, swarm, b}), wholeFirst); got[0] != swarm || got[1] != a {
		t.Error("a swarm is not kept first")
	}
}

// A wrong verdict is revoked: the remaining mirrors deliver much less than all did before.
func TestRegrow(t *testing.T) {
	s := sharing(2e6)
	s.trim.review()
	s.bring(5*time.Second, 4e6)
	s.trim.endTrial()
	if s.trim.regrow(); !s.growth.ended {
		t.Error("growth began anew although the verdict holds")
	}
	s.bring(10*time.Second, 1e6)
	if s.trim.regrow(); s.growth.ended || s.growth.allowed != 6 || !s.growth.careful {
		t.Errorf("growth ended %v, %d allowed", s.growth.ended, s.growth.allowed)
	}
}
