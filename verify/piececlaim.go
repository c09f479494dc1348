package verify

import "fmt"

// A PieceClaim is the word of somebody who names pieces and no digest of the whole: of a torrent. That all pieces hold is
// evidence of its own kind, weaker than a digest by SHA-256 (see Proof.ByPieces).
type PieceClaim struct {
	Pieces  Pieces
	Field   string // where they are written: "disk.torrent"
	Channel Channel
}

// String says what is claimed by whom: "bittorrent v1 piece hashes from disk.torrent".
func (c PieceClaim) String() string {
	return "bittorrent v1 piece hashes " + Claim{Field: c.Field, Channel: c.Channel}.from()
}

// A PieceError says that a file does not have a piece that was claimed.
type PieceError struct {
	Claim PieceClaim
	Piece int
}

func (e *PieceError) Error() string {
	start, end := e.Claim.Pieces.At(e.Piece)
	return fmt.Sprintf("the bytes from %d to %d are not the piece that %s says", start, end-1, e.Claim.Field)
}

// pieceWise checks the pieces of a file as it is read, in order.
type pieceWise struct {
	claim PieceClaim
	next  int           // the piece after that of check
	left  int64         // bytes that check lacks
	check *PieceChecker // nil: before the first byte and behind the last
	wrong int           // the first wrong piece; -1: none
}

func newPieceWise(c PieceClaim) *pieceWise {
	p := &pieceWise{claim: c, wrong: -1}
	p.begin()
	return p
}

// begin takes the next piece, if there is one.
func (p *pieceWise) begin() {
	start, end := p.claim.Pieces.At(p.next)
	p.left, p.check = end-start, nil
	if p.left > 0 {
		p.check = p.claim.Pieces.Checker(p.next)
		p.next++
	}
}

func (p *pieceWise) write(b []byte) {
	for len(b) > 0 && p.check != nil {
		part := b[:min(int64(len(b)), p.left)]
		p.check.Write(part)
		b = b[len(part):]
		if p.left -= int64(len(part)); p.left > 0 {
			return
		}
		if !p.check.Right() && p.wrong < 0 {
			p.wrong = p.next - 1
		}
		p.begin()
	}
}

// judge says whether what was written, which is as long as the pieces are, has each of them.
func (p *pieceWise) judge() error {
	if p.wrong < 0 {
		return nil
	}
	return &PieceError{Claim: p.claim, Piece: p.wrong}
}
