package scheduler

import "braid/byterange"

// Pieces of a file can be checked one by one when their digests are known (RFC 5854, section 4.2.13). The scheduler asks
// for a check when all bytes of a piece are here, remembers who brought what is not proven yet, and bans a source that
// alone brought a piece that is wrong (S10). What was proven of it is kept, everything else it brought is missing again.
type pieces struct {
	length int64         // of each but the last; 0: not known
	asked  byterange.Set // whole pieces whose check was asked for and is not proven wrong
	open   int           // checks whose result is awaited
}

// piece is the range of piece i.
func (s *Scheduler) piece(i int64) byterange.Range {
	return byterange.Range{Start: i * s.pieces.length, End: min((i+1)*s.pieces.length, s.size)}
}

// piecesKnown begins to check, also what is here already.
func (s *Scheduler) piecesKnown(length int64) {
	if s.pieces.length > 0 || length <= 0 || s.size < 0 {
		return
	}
	s.pieces.length = length
	s.checkPieces(byterange.Range{Start: 0, End: s.size})
}

// checkPieces asks for the checks of those pieces with bytes in r that are complete now.
func (s *Scheduler) checkPieces(r byterange.Range) {
	n := s.pieces.length
	if n == 0 || r.Empty() {
		return
	}
	for i := r.Start / n; i*n < r.End; i++ {
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
	if s.pieces.length == 0 || s.pieces.open == 0 || ev.Piece < 0 || ev.Piece*s.pieces.length >= s.size {
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
	if !ev.OK {
		s.lose(p)
		s.pieces.asked.Remove(p)
		if len(from) == 1 && from[0].unproven.Contains(p) {
			s.lied(from[0])
		}
	}
	for _, m := range from {
		m.unproven.Remove(p)
	}
}

// lied bans a source and takes back what it brought, but for pieces that are being checked: their results will tell.
func (s *Scheduler) lied(m *mirror) {
	m.gone, m.liar = true, true
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
		s.lose(r)
		m.unproven.Remove(r)
	}
}

// toPiece moves an offset to the next boundary of a piece, or leaves it when there are no pieces, or none before limit.
func (s *Scheduler) toPiece(off, limit int64) int64 {
	n := s.pieces.length
	if n == 0 || off%n == 0 {
		return off
	}
	if next := off - off%n + n; next < limit {
		return next
	}
	return off
}
