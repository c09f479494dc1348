package verify

import (
	"fmt"
	"slices"
)

// A PieceClaim states the digests of a file's pieces instead of a digest of the whole file, as a torrent does. A match
// of all pieces is weaker evidence than a SHA-256 digest (see Proof.ByPieces).
type PieceClaim struct {
	Pieces  Pieces
	Field   string // name of the document: "disk.torrent"
	Channel Channel
}

// String returns the kind and origin of the claim: "bittorrent v1 piece hashes from disk.torrent".
func (c PieceClaim) String() string {
	return "bittorrent v1 piece hashes " + Claim{Field: c.Field, Channel: c.Channel}.from()
}

// A PieceError reports a piece of a file that does not match a claim.
type PieceError struct {
	Claim PieceClaim
	Piece int
}

func (e *PieceError) Error() string {
	start, end := e.Claim.Pieces.At(e.Piece)
	return fmt.Sprintf("the bytes from %d to %d do not match the piece of %s", start, end-1, e.Claim.Field)
}

// A PieceComparer compares a file, which is written to it in order, with Pieces. It is not safe for concurrent use.
type PieceComparer struct {
	pieces Pieces
	next   int           // number of the piece after the piece of check
	left   int64         // bytes that check still needs
	check  *PieceChecker // nil after the last piece
	wrong  []int
}

// NewPieceComparer returns a PieceComparer for p.
func NewPieceComparer(p Pieces) *PieceComparer {
	c := &PieceComparer{pieces: p}
	c.begin()
	return c
}

// begin starts the next piece, if any.
func (c *PieceComparer) begin() {
	start, end := c.pieces.At(c.next)
	c.left, c.check = end-start, nil
	if c.left > 0 {
		c.check = c.pieces.Checker(c.next)
		c.next++
	}
}

// Write compares the next bytes of the file. It never fails. Bytes after the last piece are not compared.
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

// Wrong returns the numbers of the pieces that do not match, in order. Incomplete pieces do not match.
func (c *PieceComparer) Wrong() []int {
	wrong := slices.Clone(c.wrong)
	for i := c.next - 1; c.check != nil && i < c.pieces.Count(); i++ {
		wrong = append(wrong, i)
	}
	return wrong
}
