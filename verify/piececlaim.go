package verify

import (
	"fmt"
	"slices"
)

// A PieceClaim names pieces and no digest of the whole, as a torrent does. That all pieces hold is
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

// A PieceComparer compares a file with pieces as it is read, in order. It belongs to one goroutine.
type PieceComparer struct {
	pieces Pieces
	next   int           // the piece after that of check
	left   int64         // bytes that check lacks
	check  *PieceChecker // nil: behind the last
	wrong  []int
}

// NewPieceComparer compares what is written to it with p.
func NewPieceComparer(p Pieces) *PieceComparer {
	c := &PieceComparer{pieces: p}
	c.begin()
	return c
}

// begin takes the next piece, if there is one.
func (c *PieceComparer) begin() {
	start, end := c.pieces.At(c.next)
	c.left, c.check = end-start, nil
	if c.left > 0 {
		c.check = c.pieces.Checker(c.next)
		c.next++
	}
}

// Write takes the next bytes of the file. It never fails; what is behind the last piece is not compared.
func (c *PieceComparer) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 && c.check != nil {
		part := b[:min(int64(len(b)), c.left)]
		c.check.Write(part)
		b = b[len(part):]
		if c.left -= int64(len(part)); c.left > 0 {
			return n, nil
		}
		if !c.check.Right() {
			c.wrong = append(c.wrong, c.next-1)
		}
		c.begin()
	}
	return n, nil
}

// Wrong are the numbers of the pieces that what was written does not have, in order; also those of which a byte did not come.
func (c *PieceComparer) Wrong() []int {
	wrong := slices.Clone(c.wrong)
	for i := c.next - 1; c.check != nil && i < c.pieces.Count(); i++ {
		wrong = append(wrong, i)
	}
	return wrong
}
