package scheduler

import (
	"cmp"
	"iter"
	"slices"

	"braid/byterange"
)

// pieces are the parts of the file that can be checked separately, because their digests are known (RFC 5854, section
// 4.1.3). The zero value has no pieces. Sizes and lengths come from outside and may be as large as their type allows,
// so no offset beyond the end of the file is computed.
type pieces struct {
	size     int64         // size of the file
	length   int64         // length of each piece except the last; 0 if unknown
	lead     int64         // part of the first piece that lies before the file
	asked    byterange.Set // pieces whose check was requested and did not fail
	open     int           // checks without a result
	disputed []disputed    // pieces to be fetched from one mirror, in order
}

// disputed is a piece that was wrong and had come from several mirrors, so that none of them is known to be at fault.
// One mirror fetches it again, exclusively. The next check decides about that mirror and, if the piece had come from
// two mirrors, about the other one.
type disputed struct {
	piece   byterange.Range
	by      []*mirror // mirrors that delivered all of it before; nil if unknown
	sole    *mirror   // fetches it, and continues after an interrupted answer; nil if not chosen yet
	reached int64     // offset that earlier attempts reached
	taken   int       // number of times that it was taken from a mirror with a slow tail
}

func newPieces(ev PiecesKnown, size int64) pieces {
	if ev.Length <= 0 || ev.Lead < 0 || ev.Lead >= ev.Length || size <= 0 {
		return pieces{}
	}
	return pieces{size: size, length: ev.Length, lead: ev.Lead}
}

// at returns the range of piece i, cut to the file.
func (p *pieces) at(i int64) byterange.Range {
	start, end := i*p.length-p.lead, p.size
	if p.size-start > p.length {
		end = start + p.length
	}
	return byterange.Range{Start: max(0, start), End: end}
}

// index returns the number of the piece that contains the byte at off.
func (p *pieces) index(off int64) int64 { return (off + p.lead) / p.length }

// next returns the next boundary of a piece at or after off. It returns off if there are no pieces or no boundary
// before limit.
func (p *pieces) next(off, limit int64) int64 {
	if p.length == 0 {
		return off
	}
	if past := (off + p.lead) % p.length; past > 0 && p.length-past < limit-off {
		return off + p.length - past
	}
	return off
}

// complete returns the checks of the pieces that overlap r, are present, and were not requested yet. It records them as
// requested.
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

// checked handles the result of a check. It reports false if no such check was requested.
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

// find returns the index of the disputed piece that begins at off, or the index where it would be inserted.
func (p *pieces) find(off int64) (i int, ok bool) {
	return slices.BinarySearchFunc(p.disputed, off, func(d disputed, off int64) int { return cmp.Compare(d.piece.Start, off) })
}

// dispute adds a wrong piece from several mirrors, unless it is disputed already.
func (p *pieces) dispute(piece byterange.Range, by []*mirror) {
	var all byterange.Set
	for _, m := range by {
		for r := range m.unproven.Covered(piece) {
			all.Add(r)
		}
	}
	if !all.Contains(piece) { // for example bytes from an earlier run
		by = nil
	}
	if i, again := p.find(piece.Start); !again {
		p.disputed = slices.Insert(p.disputed, i, disputed{piece: piece, by: by})
	}
}

// resolve removes a piece that is right now, and returns the mirrors that had delivered it wrong.
func (p *pieces) resolve(piece byterange.Range) (by []*mirror) {
	i, was := p.find(piece.Start)
	if was {
		by = p.disputed[i].by
		p.disputed = slices.Delete(p.disputed, i, i+1)
	}
	return by
}

// disputedAt returns the disputed piece that contains the byte at off, or nil.
func (p *pieces) disputedAt(off int64) *disputed {
	if len(p.disputed) > 0 {
		if i, ok := p.find(p.at(p.index(off)).Start); ok {
			return &p.disputed[i]
		}
	}
	return nil
}

// outside yields the parts of r, in order, that belong to no disputed piece. Several mirrors may fetch them.
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

// alignment is the order in which a mirror delivers bytes: ascending, or as whole pieces of its own in any order. A
// part of a piece costs as much as the whole piece, so the ranges of such a mirror are aligned to its pieces, if
// possible.
type alignment struct{ length, lead int64 }

func newAlignment(length, lead int64) alignment { return alignment{max(length, 1), lead} }

// whole reports whether bytes are delivered as whole pieces.
func (a alignment) whole() bool { return a.length > 1 }

// up returns the first boundary at or after off.
func (a alignment) up(off int64) int64 {
	if rest := (off - a.lead) % a.length; rest > 0 {
		return off + a.length - rest
	}
	return off
}

// down returns the last boundary at or before off, but not less than 0.
func (a alignment) down(off int64) int64 { return max(off-(off-a.lead)%a.length, 0) }

// within returns a range of about want bytes of gap, from start on, that is aligned to pieces. It has at least one
// piece, and leaves no short rest of gap.
func (a alignment) within(gap byterange.Range, start, want int64) byterange.Range {
	start = max(a.down(start), gap.Start)
	end := min(max(a.up(start+want), a.up(start+1)), gap.End)
	if rest := gap.End - end; rest < a.length/2 {
		end = gap.End
	}
	return byterange.Range{Start: start, End: end}
}

// check requests the checks of the pieces that overlap r and are complete now.
func (w *work) check(r byterange.Range) {
	for _, c := range w.pieces.complete(&w.ranges.here, r) {
		w.do = append(w.do, c)
	}
}

// piecesKnown begins to check pieces, including those that are already present. Only the first description of pieces is
// used.
func (w *work) piecesKnown(ev PiecesKnown) {
	if w.pieces.length == 0 {
		w.pieces = newPieces(ev, w.ranges.size)
		w.check(byterange.Range{Start: 0, End: w.ranges.size})
	}
}

// pieceChecked handles the result of a check. A mirror that delivered all of a wrong piece is banned.
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

// cleared handles a piece that is right. If it is disputed between two mirrors, and one of them has now delivered all
// of it correctly, the other one is banned.
func (w *work) cleared(piece byterange.Range, from mirrors, only bool) {
	by := w.pieces.resolve(piece)
	if !only || len(by) != 2 {
		return
	}
	if i := slices.Index(by, from[0]); i >= 0 && !by[1-i].gone() {
		w.ban(by[1-i])
	}
}

// ban ends the use of a mirror. Its bytes are missing again, except for pieces that were proven or are being checked.
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

// repair makes m fetch a disputed piece from its start. A mirror that was interrupted within a piece continues where it
// was.
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

// restartPiece makes all of a disputed piece missing, and assigns it to m.
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
