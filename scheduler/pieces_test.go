package scheduler

import (
	"testing"
	"time"

	"braid/byterange"
)

// checks returns the pieces whose check the last event requested.
func (p *script) checks() (out []int64) {
	for _, a := range p.do {
		if c, ok := a.(Check); ok {
			out = append(out, c.Piece)
		}
	}
	return out
}

// twoSources begins a download of 32 MiB from an origin and a mirror.
func twoSources(t *testing.T, piece int64) (p *script, origin, mirror Fetch) {
	p = play(t, Config{Size: -1})
	origin = p.at(0, SourceAdded{ID: 0, Host: "origin:80"}).only()
	p.at(20*time.Millisecond, Answered{Fetch: origin.ID, Host: "origin:80", RTT: 20 * time.Millisecond, Size: 32 * mib})
	mirror = p.at(0, SourceAdded{ID: 1, Host: "m1:80"}).only()
	p.at(0, PiecesKnown{Length: piece})
	p.at(0, Answered{Fetch: mirror.ID, Host: "m1:80", RTT: 20 * time.Millisecond, Size: 32 * mib, Ranged: true})
	return p, origin, mirror
}

// Proves S10: a source that alone delivered a wrong piece is banned at once, and only its proven bytes are kept.
func TestLiarIsBanned_S10(t *testing.T) {
	p, origin, mirror := twoSources(t, mib)
	p.at(0, Progress{Fetch: origin.ID, Range: byterange.Range{Start: 0, End: mib + 1}})
	if got := p.checks(); len(got) != 1 || got[0] != 0 {
		t.Fatalf("checks %v after the first piece", got)
	}
	at := mirror.Range.Start
	at += (mib - at%mib) % mib
	p.at(0, Progress{Fetch: mirror.ID, Range: byterange.Range{Start: mirror.Range.Start, End: at + 2*mib + 5}})
	if got := p.checks(); len(got) != 2 {
		t.Fatalf("checks %v, want those of two pieces", got)
	}
	first := at / mib
	p.at(0, PieceChecked{Piece: first, OK: true})
	p.at(0, PieceChecked{Piece: first + 1, OK: false})
	banned := false
	for _, a := range p.do {
		if c, ok := a.(Cancel); ok && c.ID == mirror.ID && c.Why == ReasonWrongBytes {
			banned = true
		}
	}
	if _, gone := p.s.Outlook(1); !gone || !banned {
		t.Fatalf("gone %v, fetch cancelled %v: %v", gone, banned, p.do)
	}
	want := byterange.NewSet(byterange.Range{Start: 0, End: mib + 1}, p.s.checks.pieces.at(first))
	if got := p.s.ranges.here.String(); got != want.String() {
		t.Errorf("kept %s, want %s", got, want.String())
	}
	if p.s.ranges.count != p.s.ranges.here.Len() {
		t.Errorf("%d bytes counted, %d here", p.s.ranges.count, p.s.ranges.here.Len())
	}
	p.at(0, Progress{Fetch: mirror.ID, Range: byterange.Range{Start: 6 * mib, End: 7 * mib}})
	if got := p.s.ranges.here.String(); got != want.String() {
		t.Errorf("what it brought after that was taken: %s", got)
	}
	if _, gone := p.s.Outlook(0); gone {
		t.Error("the origin was banned with it")
	}
}

// A wrong piece from two sources is fetched again, and neither source is accused.
func TestMixedPieceAccusesNobody(t *testing.T) {
	const piece = 3 * mib / 2
	p, origin, mirror := twoSources(t, piece)
	border := mirror.Range.Start
	mixed := border / piece
	if border%piece == 0 {
		t.Fatalf("the ranges meet at %d, between two pieces", border)
	}
	p.at(0, Progress{Fetch: mirror.ID, Range: byterange.Range{Start: border, End: (mixed + 1) * piece}})
	p.at(0, Progress{Fetch: origin.ID, Range: byterange.Range{Start: 0, End: border}})
	if got := p.checks(); len(got) != int(mixed)+1 || got[mixed] != mixed {
		t.Fatalf("checks %v, want those up to %d", got, mixed)
	}
	p.at(0, PieceChecked{Piece: mixed, OK: false})
	if got, want := p.s.ranges.here.Len(), mixed*piece; got != want {
		t.Errorf("%d bytes are here, want %d", got, want)
	}
	for id := range SourceID(2) {
		if _, gone := p.s.Outlook(id); gone {
			t.Errorf("source %d is banned", id)
		}
	}
}

// A piece that must come from one source is completed even if no source sends a whole piece at a time.
func TestMixedPieceOfPartsComes(t *testing.T) {
	hosts := each(equal(3, 40, 40*ms), func(_ int, h *host) { h.cut = 200 << 10 })
	hosts[1].lies = func(piece int64) bool { return piece == 0 }
	r := run(t, scenario{size: 8 * mib, piece: 4 * mib, hosts: hosts, limit: time.Hour})
	if !r.finished || r.total() > 200 {
		t.Errorf("finished %v, failed %v after %v requests", r.finished, r.failed, r.requests)
	}
}

// Bytes that no present source delivered may be the wrong ones: then no source is accused when another one is cleared.
func TestMixedPieceOfAnEarlierRunAccusesNobody(t *testing.T) {
	cfg := Config{Size: 8 * mib, Have: byterange.NewSet(byterange.Range{Start: 0, End: 100})}
	p := play(t, cfg)
	a := p.at(0, SourceAdded{ID: 0, Host: "a:80"}).only()
	b := p.at(0, SourceAdded{ID: 1, Host: "b:80"}).only()
	p.at(0, PiecesKnown{Length: 8 * mib})
	p.at(0, Progress{Fetch: a.ID, Range: byterange.Range{Start: 100, End: mib}})
	p.at(0, Progress{Fetch: b.ID, Range: byterange.Range{Start: mib, End: 8 * mib}})
	p.at(0, FetchEnded{Fetch: b.ID})
	p.at(0, FetchEnded{Fetch: a.ID})
	alone := p.at(0, PieceChecked{Piece: 0, OK: false}).only()
	if alone.Range.Len() != 8*mib {
		t.Fatalf("asked for %v", alone)
	}
	p.at(0, Progress{Fetch: alone.ID, Range: alone.Range})
	p.at(0, PieceChecked{Piece: 0, OK: true})
	for id := range SourceID(2) {
		if _, gone := p.s.Outlook(id); gone {
			t.Errorf("source %d is banned", id)
		}
	}
}

// All bytes are present, but the download does not end before the last check has passed.
func TestFinishWaitsForChecks(t *testing.T) {
	p, origin, mirror := twoSources(t, mib)
	p.at(0, Progress{Fetch: origin.ID, Range: byterange.Range{Start: 0, End: 32 * mib}})
	checks := p.checks()
	if len(checks) != 32 {
		t.Fatalf("checks %v", checks)
	}
	p.at(0, FetchEnded{Fetch: origin.ID})
	p.at(0, FetchEnded{Fetch: mirror.ID})
	for i, c := range checks {
		for _, a := range p.do {
			if _, over := a.(Finish); over {
				t.Fatalf("over after %d of %d checks", i, len(checks))
			}
		}
		p.at(0, PieceChecked{Piece: c, OK: true})
	}
	if len(p.do) != 1 || p.do[0] != (Finish{}) {
		t.Errorf("after the last check: %v", p.do)
	}
}

// Late bytes of a banned mirror, in a range that another one has by then, are missing for that one only.
func TestLateWrongBytesStayReserved(t *testing.T) {
	p, origin, mirror := twoSources(t, mib)
	other := p.at(0, SourceAdded{ID: 2, Host: "m2:80"}).flow(time.Second, 20_000, map[FetchID]int64{origin.ID: 0})[0]
	p.at(0, Answered{Fetch: other.ID, Host: "m2:80", RTT: 20 * time.Millisecond, Size: 32 * mib, Ranged: true})
	p.at(0, Progress{Fetch: mirror.ID, Range: byterange.Range{Start: mirror.Range.Start, End: mirror.Range.Start + 100}})
	at := mirror.Range.Start + 100
	p.flow(silence+500*time.Millisecond, 5_000, map[FetchID]int64{origin.ID: 2_000_000, other.ID: other.Range.Start})
	for other.Range.Start != at {
		p.at(0, Progress{Fetch: other.ID, Range: other.Range})
		other = p.at(0, FetchEnded{Fetch: other.ID}).only()
	}
	p.at(0, Progress{Fetch: mirror.ID, Range: byterange.Range{Start: at, End: at + 64}})
	p.at(0, FetchEnded{Fetch: mirror.ID, Fault: FaultWrongBytes}) // at asserts the invariants
	if !p.s.ranges.reserved.Contains(byterange.Range{Start: at, End: at + 64}) {
		t.Error("what has to come again may be given to a third")
	}
}
