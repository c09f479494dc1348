package verify

import (
	"fmt"
	"hash"
	"io"
	"math"
	"strings"
)

// Pieces are the digests of the parts of a file: all are of one length, but for the last one, which may be
// shorter (RFC 5854, section 4.1.3). They tell where a file is damaged. That it is the right file tells the
// digest of the whole alone, and no Proof comes of pieces, but for those of a torrent, where there is no such digest
// (PieceClaim).
//
// Pieces can be compared with ==. The zero value is none; others come from NewPieces and are complete.
type Pieces struct {
	alg    Algorithm
	length int64
	size   int64
	pad    int64  // zeros that the digest of the last piece counts after it
	lead   int64  // bytes of the first piece that are before the file; see NewSpan
	before string // these, once they are known
	after  string // bytes of the last piece that are after the file
	sums   string // the raw digests, one after the other
}

// NewPieces takes the digests of the pieces of a file of size bytes, in order. They must be of one algorithm
// and as many as there are pieces; an empty file has none.
func NewPieces(size, length int64, digests []Digest) (Pieces, error) {
	switch {
	case length <= 0:
		return Pieces{}, fmt.Errorf("pieces of %d bytes", length)
	case size <= 0:
		return Pieces{}, fmt.Errorf("pieces of a file of %d bytes", size)
	}
	return newPieces(size, length, 0, digests)
}

// NewSpan takes the digests of all pieces that have bytes of a file of size bytes, of which the first begins lead bytes
// before the file does: those of one of several files in a torrent. The first and the last cannot be checked before
// Beside.
func NewSpan(size, length, lead int64, digests []Digest) (Pieces, error) {
	if lead < 0 || lead >= length || size <= 0 || size > math.MaxInt64-lead {
		return Pieces{}, fmt.Errorf("%d bytes before a file of %d in a piece of %d", lead, size, length)
	}
	return newPieces(size, length, lead, digests)
}

func newPieces(size, length, lead int64, digests []Digest) (Pieces, error) {
	if want := (lead+size-1)/length + 1; int64(len(digests)) != want {
		return Pieces{}, fmt.Errorf("%d digests, want %d for %d bytes in pieces of %d", len(digests), want, size, length)
	}
	p := Pieces{alg: digests[0].alg, length: length, size: size, lead: lead}
	var sums strings.Builder
	sums.Grow(len(digests) * p.alg.Size())
	for i, d := range digests {
		if d.IsZero() || d.alg != p.alg {
			return Pieces{}, fmt.Errorf("digest %d is of %v, the first is of %v", i, d.alg, p.alg)
		}
		sums.WriteString(d.raw)
	}
	p.sums = sums.String()
	return p, nil
}

// Padded is p where the digest of the last piece is of its bytes and so many zeros after them, no more than make it as long
// as the others: files in a torrent can be filled up like that (BEP 47, "padding files").
func (p Pieces) Padded(zeros int64) (Pieces, error) {
	start, end := p.At(p.Count() - 1)
	if zeros < 0 || p.IsZero() || zeros > p.length-(end-start) {
		return Pieces{}, fmt.Errorf("%d zeros after a last piece of %d of %d bytes", zeros, end-start, p.length)
	}
	p.pad = zeros
	return p, nil
}

// Beside is p with the bytes that the first piece has before the file, and the last one after it.
func (p Pieces) Beside(before, after []byte) (Pieces, error) {
	start, end := p.At(p.Count() - 1)
	left := p.length - (end - start)
	if p.Count() == 1 {
		left -= p.lead
	}
	if p.IsZero() || int64(len(before)) != p.lead || int64(len(after)) > left {
		return Pieces{}, fmt.Errorf("%d bytes before a file and %d after it, in pieces of %d", len(before), len(after), p.length)
	}
	p.before, p.after = string(before), string(after)
	return p, nil
}

// Lead is how many bytes of the first piece are before the file.
func (p Pieces) Lead() int64 { return p.lead }

// IsZero says that there are no pieces.
func (p Pieces) IsZero() bool { return p == Pieces{} }

// Algorithm is how the digests were made.
func (p Pieces) Algorithm() Algorithm { return p.alg }

// Length is the number of bytes of a piece; the last one may have fewer, and so may the first if there is a Lead.
func (p Pieces) Length() int64 { return p.length }

// Size is the number of bytes of the file.
func (p Pieces) Size() int64 { return p.size }

// Count is the number of pieces. Those of the other methods are numbered from 0.
func (p Pieces) Count() int {
	if p.IsZero() {
		return 0
	}
	return len(p.sums) / p.alg.Size()
}

// At is where piece i lies in the file: from start up to, but not including, end. There is no piece i if both
// are 0.
func (p Pieces) At(i int) (start, end int64) {
	if i < 0 || i >= p.Count() {
		return 0, 0
	}
	start = int64(i)*p.length - p.lead
	return max(0, start), start + min(p.length, p.size-start)
}

// Digest is the digest that piece i should have, and no digest if there is no such piece.
func (p Pieces) Digest(i int) Digest {
	if i < 0 || i >= p.Count() {
		return Digest{}
	}
	n := p.alg.Size()
	return Digest{p.alg, p.sums[i*n : (i+1)*n]}
}

// Check says that b is piece i: all of it, and right.
func (p Pieces) Check(i int, b []byte) bool {
	c := p.Checker(i)
	c.Write(b)
	return c.Right()
}

// Checker starts to check piece i.
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

// A PieceChecker hashes a piece as it is read, in order. It belongs to one goroutine.
type PieceChecker struct {
	want Digest
	left int64     // bytes of the piece that have not come; negative: too many came
	pad  int64     // zeros after it that are hashed, too
	hash hash.Hash // nil: there is no such piece

	after string // bytes behind the file that are hashed, too
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

// Right says that the bytes taken so far are the piece: as many as it has, with its digest.
func (c *PieceChecker) Right() bool {
	return c.hash != nil && c.left == 0 && string(c.hash.Sum(nil)) == c.want.raw
}
