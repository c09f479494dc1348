package scheduler

import (
	"testing"
	"time"
)

// Proves S13: when growth has reached its limit, an untried source gets a place only when another connection closes,
// one at a time, and a fast source is found in this way.
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

// A swarm keeps its place even if it is slow, because peers choke a client that returns.
func TestSwarmKeepsItsPlace(t *testing.T) {
	swarm, slow, fast := opened(mib, 1), opened(1, 10), opened(1, 20)
	for _, all := range []mirrors{{swarm, fast, slow}, {fast, slow}} {
		if got := all.weakest()[0]; got != slow {
			t.Errorf("the weakest of %d is %+v", len(all), got)
		}
	}
	if len((mirrors{swarm, slow}).weakest()) != 1 {
		t.Error("the only one beside the swarm makes room")
	}
}

// opened returns an open mirror with a speed and a length of pieces.
func opened(piece int64, speed float64) *mirror {
	m := newMirror(SourceAdded{Align: piece, Rate: speed}, time.Unix(1e9, 0))
	m.state = stateOpen
	return m
}

// Proves S13: the weakest mirror is replaced by an untried one. It is replaced by a tried one only if that was much
// faster, and only once.
func TestSwap_S13(t *testing.T) {
	s := New(Config{Size: gib})
	s.clock.now = time.Unix(1e9, 0)
	weak, strong, untried, tried := opened(1, 1e6), opened(1, 9e6), newMirror(SourceAdded{ID: 2}, s.clock.now), opened(1, 2e6)
	tried.becomeClosed()
	s.mirrors = mirrors{weak, strong, untried, tried}
	s.exchange.swap(untried)
	if weak.open() || !strong.open() || !s.exchange.due.After(s.clock.now) {
		t.Errorf("the weakest is in state %d, the next exchange is at %v", weak.state, s.exchange.due)
	}
	if a, b := s.exchange.opening(untried), s.exchange.opening(untried); a != ReasonExchange || b != ReasonGrowth {
		t.Errorf("it is opened for %v, then for %v", a, b)
	}
	untried.becomeOpen(nil)
	untried.speed = 1.9e6
	if s.exchange.swap(tried); !untried.open() {
		t.Error("it makes room for one that is hardly faster")
	}
	untried.speed = 1e6
	if s.exchange.swap(tried); untried.open() {
		t.Error("it does not make room for one that is twice as fast")
	}
	untried.becomeOpen(nil)
	if s.exchange.swap(tried); !untried.open() {
		t.Error("the other comes back a second time")
	}
}

// Among equal mirrors the first exchange tries four at once, and each one that finds nothing better halves the number.
// One that does resets it.
func TestExchangeBatches(t *testing.T) {
	s := New(Config{Size: gib})
	s.clock.now = time.Unix(1e9, 0)
	for range 16 {
		s.mirrors = append(s.mirrors, opened(1, 1e6))
	}
	for id := range SourceID(20) {
		s.mirrors = append(s.mirrors, newMirror(SourceAdded{ID: 100 + id}, s.clock.now))
	}
	for i, tt := range []struct {
		found float64 // speed of those that were tried before
		want  int
	}{{0, 4}, {1e6, 2}, {1.2e6, 1}, {1e6, 1}, {9e6, 4}} {
		for _, m := range s.exchange.tried {
			m.speed = tt.found
			m.becomeOpen(nil)
		}
		before := s.mirrors.count()
		s.exchange.swap(s.candidate())
		if closed := before - s.mirrors.count(); closed != tt.want {
			t.Errorf("exchange %d closed %d, want %d", i, closed, tt.want)
		}
		for range tt.want {
			if m := s.candidate(); s.exchange.opening(m) == ReasonExchange {
				m.becomeOpen(nil)
			}
		}
	}
}
