package scheduler

import (
	"slices"
	"testing"

	"braid/byterange"
)

// inspected returns the checks of a file with ten pieces of 100 bytes, and its mirrors, which are all open.
func inspected(n int) (*checks, mirrors) {
	q, g, do := newRequests(1000)
	all := make(mirrors, n)
	for i := range all {
		all[i] = opened(1, 1)
		all[i].id = SourceID(i)
	}
	c := &checks{clock: q.clock, actions: do, mirrors: &all, ranges: g, requests: q}
	c.piecesKnown(PiecesKnown{Length: 100})
	return c, all
}

// take returns the actions since the last call.
func (a *actions) take() (list []Action) {
	list = slices.Clone(a.list)
	a.reset()
	return list
}

// A piece is checked once all of its bytes are present, whoever delivered them.
func TestCheckOfACompletePiece(t *testing.T) {
	c, m := inspected(2)
	c.gain(byterange.Range{Start: 50, End: 100}, m[0])
	if got := c.actions.take(); len(got) != 0 || c.pieces.open != 0 {
		t.Errorf("half of a piece: %v", got)
	}
	c.gain(byterange.Range{Start: 0, End: 60}, m[1])
	if got := c.actions.take(); len(got) != 1 || got[0] != (Check{0, byterange.Range{Start: 0, End: 100}}) {
		t.Errorf("a whole piece: %v", got)
	}
	if a, b := m[0].unproven.Len(), m[1].unproven.Len(); a != 50 || b != 50 {
		t.Errorf("%d and %d unproven bytes; each byte counts for the mirror that was first", a, b)
	}
	c.pieceChecked(PieceChecked{Piece: 0, OK: true})
	if m[0].unproven.Len() != 0 || m[1].unproven.Len() != 0 || c.pieces.open != 0 || c.ranges.missing() != 900 {
		t.Error("the piece is right, and its bytes are not proven")
	}
}

// A wrong piece of one mirror bans it, and takes with it what of its bytes was not checked.
func TestWrongPieceOfOneMirror(t *testing.T) {
	c, m := inspected(2)
	c.gain(byterange.Range{Start: 0, End: 150}, m[0])
	c.gain(byterange.Range{Start: 200, End: 300}, m[1])
	c.actions.take()
	c.pieceChecked(PieceChecked{Piece: 0})
	want := []Action{
		Discard{byterange.Range{Start: 0, End: 100}}, Ban{0}, Discard{byterange.Range{Start: 100, End: 150}},
	}
	if got := c.actions.take(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if m[0].state != stateBanned || m[1].gone() || c.ranges.count != 100 {
		t.Errorf("states %d and %d, %d bytes", m[0].state, m[1].state, c.ranges.count)
	}
}

// A wrong piece of two mirrors is fetched again from one of them. Its next check shows who was wrong.
func TestDisputeOfTwoMirrors(t *testing.T) {
	for _, right := range []bool{true, false} {
		c, m := inspected(3)
		c.gain(byterange.Range{Start: 0, End: 50}, m[0])
		c.gain(byterange.Range{Start: 50, End: 100}, m[1])
		c.pieceChecked(PieceChecked{Piece: 0})
		if m[0].gone() || m[1].gone() || c.pieces.disputedAt(10) == nil {
			t.Fatal("it is not known who was wrong, and a mirror is gone")
		}
		c.actions.take()
		if !c.repair(m[0]) || m[0].running == nil || !m[0].running.exclusive {
			t.Fatal("nobody fetches the piece")
		}
		if c.repair(m[2]) {
			t.Error("two mirrors fetch the piece")
		}
		c.gain(byterange.Range{Start: 0, End: 100}, m[0])
		c.pieceChecked(PieceChecked{Piece: 0, OK: right})
		if m[0].gone() == right || m[1].gone() != right {
			t.Errorf("it is right %v: the one is gone %v, the other one %v", right, m[0].gone(), m[1].gone())
		}
	}
}
