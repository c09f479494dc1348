package verify

import (
	"fmt"
	"hash"
	"strings"
)

// The limits of PieceLength. Shorter pieces locate damage better, but each piece adds a line to the Metalink document,
// which is fetched before the file.
const (
	minPieceLength = 256 << 10
	manyPieces     = 2000
)

// PieceLength returns a piece length for a file of size bytes: the smallest power of two of at least 256 KiB that gives
// at most 2,000 pieces.
func PieceLength(size int64) int64 {
	length := int64(minPieceLength)
	for (size-1)/length >= manyPieces {
		length *= 2
	}
	return length
}

// A PieceMaker computes the Pieces of a file that is written to it in order. It is not safe for concurrent use.
type PieceMaker struct {
	alg    Algorithm
	length int64
	left   int64 // bytes that the current piece still needs
	size   int64
	hash   hash.Hash
	sums   strings.Builder
}

// NewPieceMaker returns a PieceMaker for pieces of length bytes. It panics if a or length is invalid.
func NewPieceMaker(a Algorithm, length int64) *PieceMaker {
	if length <= 0 {
		panic(fmt.Sprintf("verify: pieces of %d bytes", length))
	}
	return &PieceMaker{alg: a, length: length, left: length, hash: a.New()}
}

// Write takes the next bytes of the file. It never fails.
func (m *PieceMaker) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		part := b[:min(int64(len(b)), m.left)]
		m.hash.Write(part)
		m.left -= int64(len(part))
		m.size += int64(len(part))
		if m.left == 0 {
			m.endPiece()
		}
		b = b[len(part):]
	}
	return n, nil
}

func (m *PieceMaker) endPiece() {
	m.sums.Write(m.hash.Sum(nil))
	m.hash.Reset()
	m.left = m.length
}

// Pieces returns the pieces of the bytes written. Without bytes, it returns zero. Write must not be called afterwards.
func (m *PieceMaker) Pieces() Pieces {
	if m.left < m.length {
		m.endPiece()
	}
	if m.size == 0 {
		return Pieces{}
	}
	return Pieces{alg: m.alg, length: m.length, size: m.size, sums: m.sums.String()}
}
