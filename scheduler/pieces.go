package scheduler

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"braid/byterange"
)

// Pieces of a file can be checked one by one when their digests are known (RFC 5854, section 4.1.3). The scheduler asks
// for a check when all bytes of a piece are here, remembers who brought what is not proven yet, and bans a source that
// alone brought a piece that is wrong (S10). What was proven of it is kept, everything else it brought is missing again.
//
// A wrong piece that several brought accuses nobody. It is fetched again by one source alone: then the next check clears or
// accuses that one, and when two were at it before and nobody else, with it the other.
type pieces struct {
	length int64         // of each but the last; 0: not known
	lead   int64         // how much of the first lies before the file
	asked  byterange.Set // whole pieces whose check was asked for and is not proven wrong
	open   int           // checks whose result is awaited
	mixed  []mixed       // pieces to be fetched by one source alone, in order
}

// A mixed piece was wrong when several had brought it.
type mixed struct {
	piece   byterange.Range
	by      []*mirror // who had brought all of it; nil if that is not known
	sole    *mirror   // who fetches it alone, and goes on after an answer that broke off; nil: nobody yet
	reached int64     // how far those came who were at it before
}

// piece is the range of piece i, as far as it is of the file. Sizes and lengths come from outside, and may be as large as the type:
// nothing beyond the end of the file is computed.
func (s *Scheduler) piece(i int64) byterange.Range {
	start, end := i*s.pieces.length-s.pieces.lead, s.size
	if s.size-start > s.pieces.length {
		end = start + s.pieces.length
	}
	return byterange.Range{Start: max(0, start), End: end}
}

// pieceOf is the number of the piece with the byte at off.
func (s *Scheduler) pieceOf(off int64) int64 { return (off + s.pieces.lead) / s.pieces.length }

// piecesKnown begins to check, also what is here already.
func (s *Scheduler) piecesKnown(ev PiecesKnown) {
	if s.pieces.length > 0 || ev.Length <= 0 || ev.Lead < 0 || ev.Lead >= ev.Length || s.size <= 0 {
		return
	}
	s.pieces.length, s.pieces.lead = ev.Length, ev.Lead
	s.checkPieces(byterange.Range{Start: 0, End: s.size})
}

// checkPieces asks for the checks of those pieces with bytes in r that are complete now.
func (s *Scheduler) checkPieces(r byterange.Range) {
	r.End = min(r.End, s.size)
	if s.pieces.length == 0 || r.Empty() {
		return
	}
	for i, last := s.pieceOf(r.Start), s.pieceOf(r.End-1); i <= last; i++ {
		p := s.piece(i)
		if s.done.Contains(p) && !s.pieces.asked.Contains(p) {
			s.pieces.asked.Add(p)
			s.pieces.open++
			s.do = append(s.do, Check{i, p})
		}
	}
}

// pieceChecked takes the result of a check.
func (s *Scheduler) pieceChecked(ev PieceChecked) {
	if s.pieces.length == 0 || s.pieces.open == 0 || ev.Piece < 0 || ev.Piece > s.pieceOf(s.size-1) {
		return
	}
	s.pieces.open--
	p := s.piece(ev.Piece)
	var from []*mirror
	for _, m := range s.sources {
		for range m.unproven.Covered(p) {
			from = append(from, m)
			break
		}
	}
	alone := len(from) == 1 && from[0].unproven.Contains(p)
	switch {
	case ev.OK:
		s.cleared(p, from, alone)
	case alone:
		s.refuse(p)
		s.lied(from[0])
	default:
		s.refuse(p)
		s.suspect(p, from)
	}
	for _, m := range from {
		m.unproven.Remove(p)
	}
}

// refuse makes a piece missing again.
func (s *Scheduler) refuse(p byterange.Range) {
	s.discard(p)
	s.pieces.asked.Remove(p)
}

// suspect remembers a wrong piece that several brought.
func (s *Scheduler) suspect(p byterange.Range, by []*mirror) {
	var all byterange.Set
	for _, m := range by {
		for r := range m.unproven.Covered(p) {
			all.Add(r)
		}
	}
	if !all.Contains(p) { // of an earlier run, for example
		by = nil
	}
	if i, again := s.findMixed(p.Start); !again {
		s.pieces.mixed = slices.Insert(s.pieces.mixed, i, mixed{piece: p, by: by})
	}
}

// cleared is told of a piece that is right. If one of the two who had brought it wrong before has now brought all of
// it, the wrong bytes were the other's.
func (s *Scheduler) cleared(p byterange.Range, from []*mirror, alone bool) {
	i, was := s.findMixed(p.Start)
	if !was {
		return
	}
	by := s.pieces.mixed[i].by
	s.pieces.mixed = slices.Delete(s.pieces.mixed, i, i+1)
	if !alone || len(by) != 2 {
		return
	}
	if j := slices.Index(by, from[0]); j >= 0 && !by[1-j].gone {
		s.lied(by[1-j])
	}
}

// findMixed tells where the mixed piece is that begins at off, or belongs.
func (s *Scheduler) findMixed(off int64) (i int, ok bool) {
	return slices.BinarySearchFunc(s.pieces.mixed, off, func(m mixed, off int64) int { return cmp.Compare(m.piece.Start, off) })
}

// repair lets m fetch a mixed piece alone, from its first byte. Who broke off within one goes on where it was.
func (s *Scheduler) repair(now time.Time, m *mirror) bool {
	for i := range s.pieces.mixed {
		x := &s.pieces.mixed[i]
		p := x.piece
		if s.pieces.asked.Contains(p) || s.busy(p) || x.sole != m && x.sole != nil && x.sole.open && s.usable(now, x.sole) {
			continue
		}
		if x.sole != m {
			s.anew(x, m)
		}
		s.start(now, m, byterange.Range{Start: s.done.FirstGap(p.Start), End: p.End}, false, ReasonPiece)
		m.running.alone, m.running.reached = true, x.reached
		return true
	}
	return false
}

// anew forgets what is here of a mixed piece, which m is to bring alone.
func (s *Scheduler) anew(x *mixed, m *mirror) {
	if x.sole != nil {
		x.reached = max(x.reached, s.done.FirstGap(x.piece.Start))
	}
	x.sole = m
	s.discard(x.piece)
	for _, o := range s.sources {
		o.unproven.Remove(x.piece)
	}
}

// busy tells whether somebody works on a part of r.
func (s *Scheduler) busy(r byterange.Range) bool {
	for range s.flying.Covered(r) {
		return true
	}
	return false
}

// outsideMixed are the parts of r, in order, that may be fetched with others.
func (s *Scheduler) outsideMixed(r byterange.Range) iter.Seq[byterange.Range] {
	return func(yield func(byterange.Range) bool) {
		for _, x := range s.pieces.mixed {
			if x.piece.End <= r.Start || x.piece.Start >= r.End {
				continue
			}
			if x.piece.Start > r.Start && !yield(byterange.Range{Start: r.Start, End: x.piece.Start}) {
				return
			}
			r.Start = min(x.piece.End, r.End)
		}
		if !r.Empty() {
			yield(r)
		}
	}
}

// lied bans a source and takes back what it brought, but for pieces that are being checked: their results will tell.
func (s *Scheduler) lied(m *mirror) {
	m.gone, m.liar = true, true
	s.do = append(s.do, Ban{m.id})
	s.close(m)
	if m.running != nil {
		s.cancel(m.running, ReasonLied)
	}
	var lost []byterange.Range
	for r := range m.unproven.All() {
		for g := range s.pieces.asked.Gaps(r) {
			lost = append(lost, g)
		}
	}
	for _, r := range lost {
		s.discard(r)
		m.unproven.Remove(r)
	}
}

// toPiece moves an offset to the next boundary of a piece, or leaves it when there are no pieces, or none before limit.
func (s *Scheduler) toPiece(off, limit int64) int64 {
	n := s.pieces.length
	if n == 0 {
		return off
	}
	if past := (off + s.pieces.lead) % n; past > 0 && n-past < limit-off {
		return off + n - past
	}
	return off
}
