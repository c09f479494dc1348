package torrentsource

import (
	"braid/source"
	"sync"
)

// mostShelved limits the bytes of pieces in memory. It is enough for the outstanding requests to one fast peer: 250
// blocks of 16 KiB.
const mostShelved = 8 << 20

// A shelf stores unverified pieces: in memory up to a limit, else in the scratch file. Most pieces in memory are
// verified and written soon, without use of the scratch file. A piece stays where its first byte was stored, but put
// moves a piece that no job wants from memory to the file.
type shelf struct {
	length int64 // of a piece
	most   int64 // limit of the bytes in memory
	file   source.Scratch

	mu     sync.Mutex
	pieces map[int][]byte // pieces in memory
	filed  map[int]bool   // pieces in the file
	spare  [][]byte
}

func newShelf(length int64, file source.Scratch) *shelf {
	return &shelf{length: length, most: mostShelved, file: file, pieces: map[int][]byte{}, filed: map[int]bool{}}
}

// ReadAt reads bytes of a piece.
func (s *shelf) ReadAt(piece int, p []byte, off int64) (int, error) {
	s.mu.Lock()
	b, ok := s.pieces[piece]
	if ok {
		defer s.mu.Unlock()
		return copy(p, b[off:]), nil
	}
	s.mu.Unlock()
	return s.file.ReadAt(p, int64(piece)*s.length+off)
}

// WriteAt writes bytes of a piece.
func (s *shelf) WriteAt(piece int, p []byte, off int64) (int, error) {
	s.mu.Lock()
	if b := s.room(piece); b != nil {
		defer s.mu.Unlock()
		return copy(b[off:], p), nil
	}
	s.filed[piece] = true
	s.mu.Unlock()
	return s.file.WriteAt(p, int64(piece)*s.length+off)
}

// room returns the memory of a piece, which it allocates if necessary. It returns nil if the piece is in the file, or
// if the limit is reached.
func (s *shelf) room(piece int) []byte {
	if b, ok := s.pieces[piece]; ok || s.filed[piece] {
		return b
	}
	if int64(len(s.pieces)+1)*s.length > s.most {
		return nil
	}
	var b []byte
	if n := len(s.spare); n > 0 {
		b, s.spare = s.spare[n-1], s.spare[:n-1]
	} else {
		b = make([]byte, s.length)
	}
	s.pieces[piece] = b
	return b
}

// put moves a piece from memory to the file.
func (s *shelf) put(piece int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.pieces[piece]
	if !ok {
		return nil
	}
	if _, err := s.file.WriteAt(b, int64(piece)*s.length); err != nil {
		return err
	}
	s.forget(piece)
	s.filed[piece] = true
	return nil
}

// drop discards a piece.
func (s *shelf) drop(piece int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(piece)
	if !s.filed[piece] {
		return nil
	}
	delete(s.filed, piece)
	return s.file.Release(int64(piece)*s.length, s.length)
}

// forget makes the memory of a piece available to other pieces.
func (s *shelf) forget(piece int) {
	if b, ok := s.pieces[piece]; ok {
		delete(s.pieces, piece)
		s.spare = append(s.spare, b)
	}
}

// Close closes the scratch file.
func (s *shelf) Close() error { return s.file.Close() }
