package scheduler

import (
	"slices"

	"braid/byterange"
)

// What checks of pieces say of mirrors: one that alone brought a wrong piece is banned. What was proven of it is kept,
// everything else that it brought is missing again.

// check asks for the checks of those pieces with bytes in r that are complete now.
func (w *work) check(r byterange.Range) {
	for _, c := range w.pieces.complete(&w.ranges.here, r) {
		w.do = append(w.do, c)
	}
}

// piecesKnown begins to check, also what is here already. The first word on the pieces counts.
func (w *work) piecesKnown(ev PiecesKnown) {
	if w.pieces.length == 0 {
		w.pieces = newPieces(ev, w.ranges.size)
		w.check(byterange.Range{Start: 0, End: w.ranges.size})
	}
}

// pieceChecked takes the result of a check.
func (w *work) pieceChecked(ev PieceChecked) {
	piece, ok := w.pieces.checked(ev)
	if !ok {
		return
	}
	var from mirrors
	for _, m := range w.mirrors {
		for range m.unproven.Covered(piece) {
			from = append(from, m)
			break
		}
	}
	alone := len(from) == 1 && from[0].unproven.Contains(piece)
	switch {
	case ev.OK:
		w.cleared(piece, from, alone)
	case alone:
		w.discard(piece)
		w.ban(from[0])
	default:
		w.discard(piece)
		w.pieces.dispute(piece, from)
	}
	for _, m := range from {
		m.unproven.Remove(piece)
	}
}

// cleared is called for a piece that is right. If one of the two mirrors that had brought it wrong before has now brought
// all of it, the wrong bytes were the other's.
func (w *work) cleared(piece byterange.Range, from mirrors, alone bool) {
	by := w.pieces.resolve(piece)
	if !alone || len(by) != 2 {
		return
	}
	if i := slices.Index(by, from[0]); i >= 0 && !by[1-i].gone() {
		w.ban(by[1-i])
	}
}

// ban ends the use of a mirror and takes back what it brought, but for pieces that are being checked: their results will
// tell.
func (w *work) ban(m *mirror) {
	w.do = append(w.do, Ban{m.id})
	if m.running != nil {
		w.cancel(m.running, ReasonLied)
	}
	m.becomeBanned()
	var lost []byterange.Range
	for r := range m.unproven.All() {
		for gap := range w.pieces.asked.Gaps(r) {
			lost = append(lost, gap)
		}
	}
	for _, r := range lost {
		w.discard(r)
		m.unproven.Remove(r)
	}
}

// repair lets m fetch a disputed piece alone, from its first byte. A mirror that broke off within one goes on where it was.
func (w *work) repair(m *mirror) bool {
	for i := range w.pieces.disputed {
		d := &w.pieces.disputed[i]
		p := d.piece
		if w.pieces.asked.Contains(p) || w.ranges.busy(p) || d.sole != m && d.sole != nil && d.sole.open() && w.usable(d.sole) {
			continue
		}
		if d.sole != m {
			w.anew(d, m)
		}
		w.start(m, byterange.Range{Start: w.ranges.first(p.Start), End: p.End}, false, ReasonPiece)
		m.running.alone, m.running.reached = true, d.reached
		return true
	}
	return false
}

// anew forgets what is here of a disputed piece, which m is to bring alone.
func (w *work) anew(d *disputed, m *mirror) {
	if d.sole != nil {
		d.reached = max(d.reached, w.ranges.first(d.piece.Start))
	}
	d.sole = m
	w.discard(d.piece)
	for _, o := range w.mirrors {
		o.unproven.Remove(d.piece)
	}
}
