package scheduler

import (
	"testing"
	"time"

	"braid/byterange"
)

func TestAlignmentBoundaries(t *testing.T) {
	for _, tt := range []struct {
		u            alignment
		off          int64
		down, upward int64
	}{
		{newAlignment(0, 0), 7, 7, 7},
		{newAlignment(10, 0), 0, 0, 0},
		{newAlignment(10, 0), 7, 0, 10},
		{newAlignment(10, 0), 20, 20, 20},
		{newAlignment(10, -3), 0, 0, 7},
		{newAlignment(10, -3), 7, 7, 7},
		{newAlignment(10, -3), 8, 7, 17},
		{newAlignment(10, -3), 6, 0, 7},
	} {
		if d, u := tt.u.down(tt.off), tt.u.up(tt.off); d != tt.down || u != tt.upward {
			t.Errorf("%+v, %d: down %d, up %d; want %d, %d", tt.u, tt.off, d, u, tt.down, tt.upward)
		}
	}
}

// Pieces arrive in any order: the missing bytes are counted, and every byte stays in one state.
func TestWholePiecesInAnyOrder(t *testing.T) {
	now := time.Unix(1e9, 0)
	s := New(Config{Size: 10 * mib})
	do, _ := s.Step(now, SourceAdded{ID: 0, Host: "swarm", Align: mib, Slow: true})
	f, ok := do[0].(Fetch)
	if !ok || f.Range != (byterange.Range{End: 10 * mib}) { // no other mirror needs a part
		t.Fatalf("actions are %v", do)
	}
	s.Step(now, Answered{Fetch: f.ID, Size: 10 * mib, Ranged: true})
	n := (f.Range.End - f.Range.Start) / mib
	for i := n - 1; i >= 0; i-- {
		now = now.Add(100 * ms)
		s.Step(now, Coming{Fetch: f.ID, N: mib})
		run := s.requests.byID[f.ID]
		if want := i * mib; run.left() != want {
			t.Errorf("piece %d: %d bytes are left, want %d", i, run.left(), want)
		}
		r := byterange.Range{Start: f.Range.Start + i*mib, End: f.Range.Start + (i+1)*mib}
		s.Step(now, Progress{Fetch: f.ID, Range: r})
		verify(t, s, false)
		if want := i * mib; run.left() != want {
			t.Errorf("piece %d is here: %d bytes are left, want %d", i, run.left(), want)
		}
	}
	if got := s.mirrors[0].meter.total; got != n*mib {
		t.Errorf("%d bytes count for its speed, want %d", got, n*mib)
	}
	s.Step(now, Coming{Fetch: f.ID, N: -mib}) // wrong bytes do not change what is missing
	s.Step(now, FetchEnded{Fetch: f.ID})
	verify(t, s, false)
}

// A range that delays the others at the end is taken whole if a part would not help.
func TestLastPieceIsTaken(t *testing.T) {
	s := New(Config{Size: 2 * mib})
	s.clock.now = time.Unix(1e9, 0)
	victim, m := opened(2*mib, 10<<10), opened(1, 4<<20)
	f := &fetch{src: victim, pos: 0, end: 2 * mib, activeAt: s.clock.now, since: s.clock.now, got: 1}
	m.rtt = 20 * ms
	if got := s.tail.splitAt(f, m, mib); got != f.pos {
		t.Errorf("split at %d, want all of it", got)
	}
	victim.speed, victim.meter.flow = 4<<20, s.clock.now
	f.pos = 1 // split returns a position, and 0 means none
	if got := s.tail.splitAt(f, m, mib); got != 0 {
		t.Errorf("split at %d, want none: it will be done soon", got)
	}
}

// A source of last resort is used at once if there is no other, and if all others are gone.
func TestLastResort(t *testing.T) {
	now := time.Unix(1e9, 0)
	s := New(Config{Size: 100 * mib})
	do, _ := s.Step(now, SourceAdded{ID: 0, Host: "a"})
	first := do[0].(Fetch)
	s.Step(now, SourceAdded{ID: 1, Host: "swarm", Align: mib, Slow: true, Last: true})
	do, _ = s.Step(now.Add(ms), Tick{})
	for _, a := range do {
		t.Errorf("%#v, while the other has not shown what it can do", a)
	}
	do, _ = s.Step(now.Add(2*ms), FetchEnded{Fetch: first.ID, Fault: FaultGone})
	if f, ok := do[0].(Fetch); !ok || f.Source != 1 {
		t.Errorf("actions are %v", do)
	}
}

// Less than half a piece is missing, the swarm has the only place, and the mirror that could fetch the rest waits for
// that place: the swarm fetches it. Proves rule 21: nothing waits forever.
func TestCrumbsOfTheOnlyPlace_Rule21(t *testing.T) {
	p := play(t, Config{Size: 8 * mib, Split: 1})
	a := p.at(0, SourceAdded{ID: 0, Host: "a"}).only()
	p.at(0, FetchEnded{Fetch: a.ID, Fault: FaultTransient})
	b := p.at(0, SourceAdded{ID: 1, Host: "swarm", Align: mib, Slow: true, Last: true}).only()
	p.at(0, Coming{Fetch: b.ID, N: 7 * mib})
	p.at(0, Progress{Fetch: b.ID, Range: byterange.Range{Start: 100 << 10, End: 8 * mib}})
	p.at(2*time.Second, FetchEnded{Fetch: b.ID, Fault: FaultTransient})
	if got := p.only(); got.Range != (byterange.Range{End: 100 << 10}) {
		t.Errorf("asked for %v", got)
	}
}

// A mirror without ranges is used if no other can serve, and peers if there are no others: neither waits for the other.
// Proves S15 and rule 39.
func TestPeersBesideCompleteAnswers_S15_Rule39(t *testing.T) {
	p, first := begin(t, unknown(), 1)
	second := p.s.requests.running[1].id
	p.at(0, Answered{Fetch: second, Host: name(1), Size: gib})
	p.at(0, FetchEnded{Fetch: second})
	p.at(0, SourceAdded{ID: 2, Host: "swarm", Align: mib, Slow: true, Last: true})
	if got := p.at(0, FetchEnded{Fetch: first.ID, Fault: FaultGone}).only(); got.Source != 2 {
		t.Errorf("asked for %v", got)
	}
}
