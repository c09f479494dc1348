package torrentsource

import (
	"braid/source"
	"sync"
)

// mostShelved is how many bytes of pieces are kept in memory. What one fast peer has under way fits: 250 blocks, of 16 KiB each.
const mostShelved = 8 << 20

// A shelf has the pieces that are not proven yet: in memory, as far as there is room, else in the scratch file. Most of
// those in memory are proven and written to where they belong before long, and never cost the disk anything. A piece is
// in one of both, from its first byte on until it is dropped; what no job waits for goes into the file, so that what
// does not come on holds no room.
type shelf struct {
	length int64 // of a piece
	most   int64 // bytes in memory
	file   source.Scratch

	mu     sync.Mutex
	pieces map[int][]byte // in memory
	filed  map[int]bool   // in the file
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

// room is where a piece is in memory; nil if it is not, and there is no room or it was begun in the file.
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

// put writes a piece that is in memory into the file.
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

// drop gives the room of a piece back.
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

// forget makes the memory of a piece free for another.
func (s *shelf) forget(piece int) {
	if b, ok := s.pieces[piece]; ok {
		delete(s.pieces, piece)
		s.spare = append(s.spare, b)
	}
}

// Close gives back everything.
func (s *shelf) Close() error { return s.file.Close() }
