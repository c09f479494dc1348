package scheduler

import (
	"testing"
	"time"

	"braid/byterange"
)

// racers returns the end of a download of 64 MiB: no range is unassigned, and each of some mirrors of known speeds has
// worked for ten seconds and has the given number of bytes left.
func racers(left []int64, speeds ...float64) (s *Scheduler) {
	const size = 64 * mib
	s = New(Config{Size: size})
	s.clock.now = time.Unix(1e9, 0)
	end := int64(size)
	for i, v := range speeds {
		m := opened(1, v)
		m.id, m.host, m.rtt, m.alive = SourceID(i), name(i), 40*ms, true
		s.mirrors = append(s.mirrors, m)
		if i >= len(left) {
			m.becomeClosed()
			continue
		}
		s.requests.start(m, byterange.Range{Start: end - left[i], End: end}, false, ReasonNext)
		f := m.running
		f.got, f.since, f.guessed = mib, s.clock.now.Add(-10*time.Second), false
		for at := f.since; !at.After(s.clock.now); at = at.Add(10 * ms) {
			m.meter.epoch = f.since
			m.meter.add(at, int64(v/100))
		}
		end -= left[i]
	}
	s.checks.gain(byterange.Range{Start: 0, End: end}, nil)
	s.actions.list = nil
	return s
}

// A range is split so that both parts end at the same time, considering both speeds and the round trip of the request.
func TestSplitEndsTogether(t *testing.T) {
	for _, ours := range []float64{1e6, 4e6, 16e6} {
		s := racers([]int64{16 * mib}, 4e6, ours)
		victim, m := s.requests.running[0], s.mirrors[1]
		if !s.tail.steal(m, ReasonNext) {
			t.Fatalf("%v bytes a second: nothing was taken", ours)
		}
		theirs := float64(victim.left()) / 4e6
		mine := float64(m.running.left())/ours + s.estimates.lag(m, ours, true)
		if off := theirs - mine; off < -0.2 || off > 0.2 {
			t.Errorf("%v bytes a second: the parts end after %.2f and %.2f s", ours, theirs, mine)
		}
		if len(s.actions.list) != 2 || victim.end != m.running.pos || m.running.end != 64*mib {
			t.Errorf("%v bytes a second: %v", ours, s.actions.list)
		}
	}
}

// The fetch that would finish last is split, or the first one if the window is the limit.
func TestVictim(t *testing.T) {
	s := racers([]int64{4 * mib, 30 * mib, 2 * mib}, 4e6, 4e6, 4e6, 4e6)
	if f := s.tail.victim(s.mirrors[3]); f != s.requests.running[1] {
		t.Errorf("%+v is split", f)
	}
	s.ranges.size *= 1000
	if f := s.tail.victim(s.mirrors[3]); f != s.requests.running[2] {
		t.Errorf("%+v is split although the window is full", f)
	}
}

// Closing connections wastes the bytes in flight: for small gains, only a limited share of the file may be wasted.
func TestSplitBudget(t *testing.T) {
	s := racers([]int64{mib}, 4e6, 4e6)
	f := s.requests.running[0]
	if s.tail.tooDear(f) {
		t.Error("the first split is too dear")
	}
	s.tail.wasted = 64 * mib / 160
	if !s.tail.tooDear(f) {
		t.Error("one percent is lost, and the next split is not too dear")
	}
	if f.cut = true; s.tail.tooDear(f) {
		t.Error("a connection that will be closed anyway is too dear")
	}
}

// A mirror that protects its rest keeps its range; one with a slow tail loses all of it.
func TestSlowTailIsTakenWhole_S16(t *testing.T) {
	s := racers([]int64{20 << 10}, 4e6, 4e6)
	if s.tail.steal(s.mirrors[1], ReasonNext) {
		t.Error("the last bytes were taken from a mirror that is at work")
	}
	s = racers([]int64{20 << 10}, 100, 4e6)
	if f := s.requests.running[0]; !s.tail.steal(s.mirrors[1], ReasonNext) || !f.ending {
		t.Error("a slow tail stays where it is")
	}
}

// Proves S16: a mirror that drips is replaced by one that waits for a place.
func TestRelieve_S16(t *testing.T) {
	s := racers([]int64{mib}, 1000, 4e6)
	s.tail.relieve()
	if m := s.mirrors[0]; m.open() || !m.slowTail || !m.running.ending {
		t.Errorf("the mirror that drips is in state %d", m.state)
	}
	s = racers([]int64{mib}, 1e6, 4e6)
	if s.tail.relieve(); !s.mirrors[0].open() {
		t.Error("a mirror that is through in a second made room")
	}
}

// A disputed piece that must come from one mirror is not taken from it while its connection is young: another one would
// begin the piece again and lose it in the same way. Proves S10 and rule 39: the download ends.
func TestDisputedPieceIsNotPassedAround_S10_Rule39(t *testing.T) {
	for _, split := range []int{3, 16} {
		hosts := each([]host{plain(200, 40*ms), plain(200, 8*ms), plain(10, 161*ms)}, func(_ int, h *host) { h.most = mbit(1) })
		hosts[2].lies = func(piece int64) bool { return piece == 0 }
		r := run(t, scenario{size: 1835163, piece: 1114112, lanes: 3, hosts: hosts, limit: 5 * time.Minute,
			cfg: Config{Split: split}})
		if !r.finished || r.total() > 60 {
			t.Errorf("split %d: finished %v after %v requests", split, r.finished, r.requests)
		}
	}
}
