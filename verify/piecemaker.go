package verify

import (
	"fmt"
	"hash"
	"strings"
)

// The length of pieces if the caller gives none. Shorter ones tell better where a file is damaged; each costs a
// line of a document, which is fetched before the file.
const (
	minPieceLength = 256 << 10
	manyPieces     = 2000
)

// PieceLength is the length that fits a file of size bytes: a power of two, at least 256 KiB, so that there are at
// most 2,000 pieces.
func PieceLength(size int64) int64 {
	length := int64(minPieceLength)
	for (size-1)/length >= manyPieces {
		length *= 2
	}
	return length
}

// A PieceMaker makes Pieces of a file as it is read, in order. It belongs to one goroutine.
type PieceMaker struct {
	alg    Algorithm
	length int64
	left   int64 // bytes that the present piece lacks
	size   int64
	hash   hash.Hash
	sums   strings.Builder
}

// NewPieceMaker starts on a file of which nothing is read yet. It panics unless a is an algorithm and length positive.
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

// Pieces are those of what was written; zero if that was nothing. Nothing may be written afterwards.
func (m *PieceMaker) Pieces() Pieces {
	if m.left < m.length {
		m.endPiece()
	}
	if m.size == 0 {
		return Pieces{}
	}
	return Pieces{alg: m.alg, length: m.length, size: m.size, sums: m.sums.String()}
}
