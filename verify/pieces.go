package verify

import (
	"fmt"
	"hash"
	"io"
	"math"
	"strings"
)

// Pieces are the digests of the parts of a file. All parts have the same length, except the last one, which may be
// shorter (RFC 5854, section 4.1.3). Pieces locate damage in a file. Only the digest of the whole file proves its
// content. Pieces give no Proof, except the pieces of a torrent without a digest of the whole file (PieceClaim).
//
// Pieces can be compared with ==. The zero value has no pieces. Other values come from NewPieces, NewSpan or a
// PieceMaker and have a digest for each piece.
type Pieces struct {
	alg    Algorithm
	length int64
	size   int64
	pad    int64  // number of zero bytes hashed after the last piece
	lead   int64  // number of bytes of the first piece that lie before the file; see NewSpan
	before string // content of the first piece before the file; "" until Beside is called
	after  string // content of the last piece after the file
	sums   string // the raw digests, concatenated
}

// NewPieces returns the Pieces of a file of size bytes in pieces of length bytes. digests has the digest of each piece,
// in order and of one algorithm. The file must not be empty.
func NewPieces(size, length int64, digests []Digest) (Pieces, error) {
	switch {
	case length <= 0:
		return Pieces{}, fmt.Errorf("the piece length must be positive, not %d", length)
	case size <= 0:
		return Pieces{}, fmt.Errorf("the size of the file must be positive, not %d", size)
	}
	return newPieces(size, length, 0, digests)
}

// NewSpan returns the Pieces of one of several files in a torrent. digests are those of all pieces that contain bytes
// of the file. The first of these pieces begins lead bytes before the file. The first and the last piece cannot be
// checked before Beside is called.
func NewSpan(size, length, lead int64, digests []Digest) (Pieces, error) {
	if lead < 0 || lead >= length || size <= 0 || size > math.MaxInt64-lead {
		return Pieces{}, fmt.Errorf("%d bytes before a file of %d bytes do not fit into pieces of %d", lead, size, length)
	}
	return newPieces(size, length, lead, digests)
}

func newPieces(size, length, lead int64, digests []Digest) (Pieces, error) {
	if want := (lead+size-1)/length + 1; int64(len(digests)) != want {
		return Pieces{}, fmt.Errorf("%d digests, want %d for a file of %d bytes in pieces of %d",
			len(digests), want, size, length)
	}
	p := Pieces{alg: digests[0].alg, length: length, size: size, lead: lead}
	var sums strings.Builder
	sums.Grow(len(digests) * p.alg.Size())
	for i, d := range digests {
		if d.IsZero() || d.alg != p.alg {
			return Pieces{}, fmt.Errorf("digest %d is %v, but the first is %v", i, d.alg, p.alg)
		}
		sums.WriteString(d.raw)
	}
	p.sums = sums.String()
	return p, nil
}

// Padded returns p with a longer last piece: its digest also covers the given number of zero bytes after the file. The
// piece must not get longer than the other pieces. Torrents may pad files like that (BEP 47, "padding files").
func (p Pieces) Padded(zeros int64) (Pieces, error) {
	start, end := p.At(p.Count() - 1)
	if zeros < 0 || p.IsZero() || zeros > p.length-(end-start) {
		return Pieces{}, fmt.Errorf("%d zeros do not fit after a last piece of %d of %d bytes", zeros, end-start, p.length)
	}
	p.pad = zeros
	return p, nil
}

// Beside returns p with the missing content of its first and last piece: before lies before the file, after follows it.
func (p Pieces) Beside(before, after []byte) (Pieces, error) {
	start, end := p.At(p.Count() - 1)
	left := p.length - (end - start)
	if p.Count() == 1 {
		left -= p.lead
	}
	if p.IsZero() || int64(len(before)) != p.lead || int64(len(after)) > left {
		return Pieces{}, fmt.Errorf("%d bytes before the file and %d after it do not fit its pieces of %d",
			len(before), len(after), p.length)
	}
	p.before, p.after = string(before), string(after)
	return p, nil
}

// Lead returns the number of bytes of the first piece that lie before the file.
func (p Pieces) Lead() int64 { return p.lead }

// IsZero reports whether p has no pieces.
func (p Pieces) IsZero() bool { return p == Pieces{} }

// Algorithm returns the algorithm of the digests.
func (p Pieces) Algorithm() Algorithm { return p.alg }

// Length returns the number of bytes of a piece. The last piece may have fewer. If Lead is positive, the part of the
// first piece that lies in the file has fewer, too.
func (p Pieces) Length() int64 { return p.length }

// Size returns the number of bytes of the file.
func (p Pieces) Size() int64 { return p.size }

// Count returns the number of pieces. Other methods number the pieces from 0.
func (p Pieces) Count() int {
	if p.IsZero() {
		return 0
	}
	return len(p.sums) / p.alg.Size()
}

// At returns the range [start, end) of piece i in the file. Both are 0 if piece i does not exist.
func (p Pieces) At(i int) (start, end int64) {
	if i < 0 || i >= p.Count() {
		return 0, 0
	}
	start = int64(i)*p.length - p.lead
	return max(0, start), start + min(p.length, p.size-start)
}

// Digest returns the expected digest of piece i, or no digest if piece i does not exist.
func (p Pieces) Digest(i int) Digest {
	if i < 0 || i >= p.Count() {
		return Digest{}
	}
	n := p.alg.Size()
	return Digest{p.alg, p.sums[i*n : (i+1)*n]}
}

// Check reports whether b is the correct content of piece i.
func (p Pieces) Check(i int, b []byte) bool {
	c := p.Checker(i)
	c.Write(b)
	return c.Right()
}

// Checker returns a checker of piece i.
func (p Pieces) Checker(i int) *PieceChecker {
	start, end := p.At(i)
	c := &PieceChecker{want: p.Digest(i), left: end - start}
	if !c.want.IsZero() {
		c.hash = p.alg.New()
	}
	if i == 0 && c.hash != nil {
		io.WriteString(c.hash, p.before)
	}
	if i == p.Count()-1 {
		c.pad, c.after = p.pad, p.after
	}
	return c
}

// A PieceChecker hashes one piece, which is written to it in order. It is not safe for concurrent use.
type PieceChecker struct {
	want Digest
	left int64     // number of bytes still missing; negative if too many were written
	pad  int64     // number of zero bytes hashed after the piece
	hash hash.Hash // nil if the piece does not exist

	after string // bytes after the file that are part of the piece
}

// Write takes the next bytes of the piece. It never fails.
func (c *PieceChecker) Write(b []byte) (int, error) {
	if c.left -= int64(len(b)); c.hash == nil || c.left < 0 {
		return len(b), nil
	}
	c.hash.Write(b)
	if c.left == 0 {
		io.WriteString(c.hash, c.after)
		c.after = ""
	}
	for c.left == 0 && c.pad > 0 {
		n := min(c.pad, int64(len(zeros)))
		c.hash.Write(zeros[:n])
		c.pad -= n
	}
	return len(b), nil
}

var zeros [4 << 10]byte

// Right reports whether the bytes written so far are the whole piece and have its digest.
func (c *PieceChecker) Right() bool {
	return c.hash != nil && c.left == 0 && string(c.hash.Sum(nil)) == c.want.raw
}
