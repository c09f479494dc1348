package scheduler

import (
	"testing"
	"time"
)

// Proves S13: when growth is at its limit an untried source gets a place only when another's connection closes, one at a
// time, and a fast one is found that way.
func TestExchange_S13(t *testing.T) {
	hosts := append(equal(5, 4, 40*time.Millisecond), host{rate: steady(80), rtt: 40 * time.Millisecond})
	r := run(t, scenario{size: 256 * mib, hosts: hosts, cfg: Config{Split: 3}})
	if !r.finished || r.most > 3 {
		t.Fatalf("finished %v, %d connections at a time", r.finished, r.most)
	}
	if r.brought[5] < 128*mib {
		t.Errorf("the fast one that is listed last brought %d bytes", r.brought[5])
	}
	if r.efficiency() < 0.6 {
		t.Errorf("efficiency %.3f", r.efficiency())
	}
	closed := 0
	for _, a := range r.history {
		if c, ok := a.(Cancel); ok && c.Why == ReasonExchange {
			closed++
		}
	}
	if closed < 2 || closed > 6 {
		t.Errorf("%d exchanges, to try three sources and take back at most some", closed)
	}
}

// A swarm keeps its place, however slow it is: peers choke who was away.
func TestSwarmKeepsItsPlace(t *testing.T) {
	swarm := &mirror{unit: newUnit(mib, 0), open: true, speed: 1}
	slow, fast := &mirror{unit: newUnit(1, 0), open: true, speed: 10}, &mirror{unit: newUnit(1, 0), open: true, speed: 20}
	s := New(Config{Size: 10 * mib})
	for _, sources := range [][]*mirror{{swarm, fast, slow}, {fast, slow}} {
		s.sources = sources
		if got := s.weakest(); got != slow {
			t.Errorf("the weakest of %d is %+v", len(sources), got)
		}
	}
	if s.sources = []*mirror{swarm, slow}; s.weakest() != nil {
		t.Error("the only one beside the swarm makes room")
	}
}
