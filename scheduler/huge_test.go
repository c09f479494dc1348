package scheduler

import (
	"math"
	"testing"

	"braid/byterange"
)

// Sizes and lengths of pieces come from documents. However large they are, a step ends and assigns ranges of the file.
// Proves rule 42.
func TestHugeSizes_Rule42(t *testing.T) {
	const most = math.MaxInt64
	for _, size := range []int64{1<<62 + 1, 1<<62 - 1, most, most - 1, 3} {
		for _, length := range []int64{1 << 62, most, most - 1, size, size/2 + 1, 1 << 61} {
			p := play(t, Config{Size: size, Have: byterange.NewSet(byterange.Range{Start: size - 2, End: size})})
			f := p.at(0, SourceAdded{ID: 0, Host: "origin:80", Rate: 1e6}).only()
			p.at(0, PiecesKnown{Length: length})
			p.at(0, Answered{Fetch: f.ID, Host: "origin:80", RTT: 20 * ms, Size: size, Ranged: true})
			asked := p.at(0, SourceAdded{ID: 1, Host: "m1:80", Rate: 1e6}).fetches()
			asked = append(asked, p.at(20*ms,
				Progress{Fetch: f.ID, Range: byterange.Range{Start: f.Range.Start, End: f.Range.Start + 1}}).fetches()...)
			asked = append(asked, p.at(20*ms, PieceChecked{Piece: most, OK: true}).fetches()...)
			for _, f := range append(asked, f) {
				if f.Range.Start < 0 || f.Range.End > size || f.Range.Empty() {
					t.Errorf("size %d, pieces of %d: asked for %v", size, length, f.Range)
				}
			}
		}
	}
}

// The first piece may begin before the file: it is checked when its part of the file is present. Proves S10.
func TestPiecesWithALead_S10(t *testing.T) {
	p := newPieces(PiecesKnown{Length: 4, Lead: 3}, 10)
	want := []byterange.Range{{Start: 0, End: 1}, {Start: 1, End: 5}, {Start: 5, End: 9}, {Start: 9, End: 10}}
	for i, w := range want {
		if got := p.at(int64(i)); got != w || p.index(w.Start) != int64(i) || p.index(w.End-1) != int64(i) {
			t.Errorf("piece %d is %v, want %v", i, got, w)
		}
	}
	for off, next := range map[int64]int64{0: 1, 1: 1, 2: 5, 5: 5, 8: 9, 9: 9} {
		if got := p.next(off, 10); got != next {
			t.Errorf("from %d to piece %d, want %d", off, got, next)
		}
	}
}
