package scheduler

import (
	"cmp"
	"iter"
	"slices"

	"braid/byterange"
)

// pieces are the parts of the file that can be checked one by one, as their digests are known (RFC 5854, section 4.1.3).
// The zero value has none. Sizes and lengths come from outside and may be as large as the type: nothing beyond the end of
// the file is computed.
type pieces struct {
	size     int64         // of the file
	length   int64         // of each but the last; 0: not known
	lead     int64         // how much of the first lies before the file
	asked    byterange.Set // those whose check was asked for, and which are not proven wrong
	open     int           // checks without a result yet
	disputed []disputed    // those to be fetched by one mirror, in order
}

// A disputed piece was wrong when several mirrors had brought it, so that none of them is known to be wrong. One mirror
// fetches it again, exclusively. The next check decides about that mirror and, if two had brought all of the piece
// before, about the other.
type disputed struct {
	piece   byterange.Range
	by      []*mirror // the mirrors that had brought all of it; nil if they are not known
	sole    *mirror   // fetches it, and goes on after an answer that broke off; nil: not chosen yet
	reached int64     // how far those before it came
	taken   int       // how often it was taken from a mirror with a slow tail
}

func newPieces(ev PiecesKnown, size int64) pieces {
	if ev.Length <= 0 || ev.Lead < 0 || ev.Lead >= ev.Length || size <= 0 {
		return pieces{}
	}
	return pieces{size: size, length: ev.Length, lead: ev.Lead}
}

// at is the range of piece i, as far as it is of the file.
func (p *pieces) at(i int64) byterange.Range {
	start, end := i*p.length-p.lead, p.size
	if p.size-start > p.length {
		end = start + p.length
	}
	return byterange.Range{Start: max(0, start), End: end}
}

// index is the number of the piece with the byte at off.
func (p *pieces) index(off int64) int64 { return (off + p.lead) / p.length }

// next moves an offset to the next boundary of a piece, or leaves it when there are no pieces, or none before limit.
func (p *pieces) next(off, limit int64) int64 {
	if p.length == 0 {
		return off
	}
	if past := (off + p.lead) % p.length; past > 0 && p.length-past < limit-off {
		return off + p.length - past
	}
	return off
}

// complete lists the pieces with bytes in r that are here and not asked for yet, and notes that they are.
func (p *pieces) complete(here *byterange.Set, r byterange.Range) (checks []Check) {
	r.End = min(r.End, p.size)
	if p.length == 0 || r.Empty() {
		return nil
	}
	for i, last := p.index(r.Start), p.index(r.End-1); i <= last; i++ {
		if piece := p.at(i); here.Contains(piece) && !p.asked.Contains(piece) {
			p.asked.Add(piece)
			p.open++
			checks = append(checks, Check{i, piece})
		}
	}
	return checks
}

// checked handles the result of a check. It reports false if there was no such check.
func (p *pieces) checked(ev PieceChecked) (piece byterange.Range, ok bool) {
	if p.length == 0 || p.open == 0 || ev.Piece < 0 || ev.Piece > p.index(p.size-1) {
		return byterange.Range{}, false
	}
	p.open--
	piece = p.at(ev.Piece)
	if !ev.OK {
		p.asked.Remove(piece)
	}
	return piece, true
}

// find is where the disputed piece is that begins at off, or belongs.
func (p *pieces) find(off int64) (i int, ok bool) {
	return slices.BinarySearchFunc(p.disputed, off, func(d disputed, off int64) int { return cmp.Compare(d.piece.Start, off) })
}

// dispute adds a wrong piece that several mirrors brought, unless it is disputed already.
func (p *pieces) dispute(piece byterange.Range, by []*mirror) {
	var all byterange.Set
	for _, m := range by {
		for r := range m.unproven.Covered(piece) {
			all.Add(r)
		}
	}
	if !all.Contains(piece) { // of an earlier run, for example
		by = nil
	}
	if i, again := p.find(piece.Start); !again {
		p.disputed = slices.Insert(p.disputed, i, disputed{piece: piece, by: by})
	}
}

// resolve takes a piece out that is right now, and lists the mirrors that had brought it wrong.
func (p *pieces) resolve(piece byterange.Range) (by []*mirror) {
	i, was := p.find(piece.Start)
	if was {
		by = p.disputed[i].by
		p.disputed = slices.Delete(p.disputed, i, i+1)
	}
	return by
}

// disputedAt is the disputed piece with the byte at off; nil if there is none.
func (p *pieces) disputedAt(off int64) *disputed {
	if len(p.disputed) > 0 {
		if i, ok := p.find(p.at(p.index(off)).Start); ok {
			return &p.disputed[i]
		}
	}
	return nil
}

// outside are the parts of r, in order, that are of no disputed piece: several may fetch them.
func (p *pieces) outside(r byterange.Range) iter.Seq[byterange.Range] {
	return func(yield func(byterange.Range) bool) {
		for _, d := range p.disputed {
			if d.piece.End <= r.Start || d.piece.Start >= r.End {
				continue
			}
			if d.piece.Start > r.Start && !yield(byterange.Range{Start: r.Start, End: d.piece.Start}) {
				return
			}
			r.Start = min(d.piece.End, r.End)
		}
		if !r.Empty() {
			yield(r)
		}
	}
}

// An alignment is how a mirror gives its bytes: any of them, in order, or whole pieces of its own, in any order. A part of a
// piece costs all of it, so ranges of such a mirror begin and end where its pieces do, as far as they can.
type alignment struct{ length, lead int64 }

func newAlignment(length, lead int64) alignment { return alignment{max(length, 1), lead} }

// whole reports whether bytes come in pieces.
func (a alignment) whole() bool { return a.length > 1 }

// up is the first boundary at or after off.
func (a alignment) up(off int64) int64 {
	if rest := (off - a.lead) % a.length; rest > 0 {
		return off + a.length - rest
	}
	return off
}

// down is the last boundary at or before off, but not below 0.
func (a alignment) down(off int64) int64 { return max(off-(off-a.lead)%a.length, 0) }

// within is about want bytes of gap from start on, as pieces: one at least, and no part of one that can be left to others.
func (a alignment) within(gap byterange.Range, start, want int64) byterange.Range {
	start = max(a.down(start), gap.Start)
	end := min(max(a.up(start+want), a.up(start+1)), gap.End)
	if rest := gap.End - end; rest < a.length/2 {
		end = gap.End
	}
	return byterange.Range{Start: start, End: end}
}

// check asks for the checks of those pieces with bytes in r that are complete now.
func (w *work) check(r byterange.Range) {
	for _, c := range w.pieces.complete(&w.ranges.here, r) {
		w.do = append(w.do, c)
	}
}

// piecesKnown begins to check, also what is here already. Only the first description of pieces counts.
func (w *work) piecesKnown(ev PiecesKnown) {
	if w.pieces.length == 0 {
		w.pieces = newPieces(ev, w.ranges.size)
		w.check(byterange.Range{Start: 0, End: w.ranges.size})
	}
}

// pieceChecked handles the result of a check. A mirror that brought all of a wrong piece is banned.
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
	only := len(from) == 1 && from[0].unproven.Contains(piece)
	switch {
	case ev.OK:
		w.cleared(piece, from, only)
	case only:
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
func (w *work) cleared(piece byterange.Range, from mirrors, only bool) {
	by := w.pieces.resolve(piece)
	if !only || len(by) != 2 {
		return
	}
	if i := slices.Index(by, from[0]); i >= 0 && !by[1-i].gone() {
		w.ban(by[1-i])
	}
}

// ban ends the use of a mirror. What it brought is missing again, but for proven pieces and those being checked.
func (w *work) ban(m *mirror) {
	w.do = append(w.do, Ban{m.id})
	if m.running != nil {
		w.cancel(m.running, ReasonWrongBytes)
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

// repair lets m fetch a disputed piece from its first byte. A mirror that broke off within one goes on where it was.
func (w *work) repair(m *mirror) bool {
	for i := range w.pieces.disputed {
		d := &w.pieces.disputed[i]
		p := d.piece
		if w.pieces.asked.Contains(p) || w.ranges.busy(p) || d.sole != m && d.sole != nil && d.sole.open() && w.usable(d.sole) {
			continue
		}
		if d.sole != m {
			w.restartPiece(d, m)
		}
		w.start(m, byterange.Range{Start: w.ranges.first(p.Start), End: p.End}, false, ReasonPiece)
		m.running.exclusive, m.running.reached = true, d.reached
		return true
	}
	return false
}

// restartPiece makes all of a disputed piece missing, which m is to bring.
func (w *work) restartPiece(d *disputed, m *mirror) {
	if d.sole != nil {
		d.reached = max(d.reached, w.ranges.first(d.piece.Start))
	}
	d.sole = m
	w.discard(d.piece)
	for _, o := range w.mirrors {
		o.unproven.Remove(d.piece)
	}
}
