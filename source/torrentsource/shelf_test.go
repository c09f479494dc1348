package torrentsource

import (
	"braid/source"
	"bytes"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"
)

// A countingScratch is a scratch file that counts the bytes written and released.
type countingScratch struct {
	plainScratch
	written, released atomic.Int64
}

func (s *countingScratch) WriteAt(p []byte, off int64) (int, error) {
	s.written.Add(int64(len(p)))
	return s.plainScratch.WriteAt(p, off)
}

func (s *countingScratch) Release(off, n int64) error {
	s.released.Add(n)
	_, err := s.plainScratch.WriteAt(make([]byte, n), off)
	return err
}

func newScratch(t *testing.T) *countingScratch {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "scratch")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &countingScratch{plainScratch: plainScratch{f}}
}

// TestShelfAgainstOracle writes, puts and drops pieces in random order, and checks that a read returns the last written
// bytes and that memory is limited.
func TestShelfAgainstOracle(t *testing.T) {
	const length, pieces = 256, 9
	scratch := newScratch(t)
	s := newShelf(length, scratch)
	s.most = 4*length + length/2
	oracle := map[int][]byte{}
	r := rand.New(rand.NewPCG(1, 2))
	for step := range 2000 {
		i := r.IntN(pieces)
		switch r.IntN(8) {
		case 0:
			if err := s.put(i); err != nil {
				t.Fatal(err)
			}
		case 1:
			if err := s.drop(i); err != nil {
				t.Fatal(err)
			}
			delete(oracle, i)
		default:
			if oracle[i] == nil {
				oracle[i] = make([]byte, length)
				if n, err := s.WriteAt(i, oracle[i], 0); n != length || err != nil { // memory is not cleared
					t.Fatal(n, err)
				}
			}
			off := r.Int64N(length)
			p := bytes.Repeat([]byte{byte(step)}, int(min(r.Int64N(length)+1, length-off)))
			copy(oracle[i][off:], p)
			if n, err := s.WriteAt(i, p, off); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
		}
		if n := int64(len(s.pieces)+len(s.spare)) * length; n > s.most {
			t.Fatalf("%d bytes are in memory", n)
		}
		if want := oracle[i]; want != nil {
			got := make([]byte, length)
			if n, err := s.ReadAt(i, got, 0); n != length || err != nil || !bytes.Equal(got, want) {
				t.Fatalf("step %d: piece %d is another one, %d bytes, %v", step, i, n, err)
			}
		}
	}
	if scratch.written.Load() == 0 || scratch.released.Load() == 0 {
		t.Errorf("%d bytes were written into the file, %d given back", scratch.written.Load(), scratch.released.Load())
	}
}

// TestShelfSparesTheDisk checks that pieces that arrive without delay and are correct are not written to the scratch
// file.
func TestShelfSparesTheDisk(t *testing.T) {
	data := made(t, 40*pieceLength, 1)
	m := torrentOf(t, data)
	_, addr := seeder(t, m, data)
	scratch := newScratch(t)
	c := newClient(t, &Client{SwarmConfig: source.SwarmConfig{Scratch: func(string) (source.Scratch, error) {
		return scratch, nil
	}}})
	s := c.Source(m, m.Files[0], source.SwarmOptions{Peers: []string{addr}, Named: near})
	defer s.Close()
	k := newSink(t, m.Size)
	if err := s.Fetch(t.Context(), whole, k); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, k, data, part(0, m.Size))
	if n := scratch.written.Load(); n > 0 {
		t.Errorf("%d bytes were written into the scratch file", n)
	}
}

// TestIdlePiecesLeaveTheMemory checks that pieces that no job wants any more are moved to the scratch file and can
// still be read.
func TestIdlePiecesLeaveTheMemory(t *testing.T) {
	data := made(t, pieceLength, 1)
	m := torrentOf(t, bytes.Repeat(data, 8))
	scratch := newScratch(t)
	c := newClient(t, &Client{SwarmConfig: source.SwarmConfig{Scratch: func(string) (source.Scratch, error) {
		return scratch, nil
	}}})
	s := c.Source(m, m.Files[0], source.SwarmOptions{Named: near})
	defer s.Close()
	w, err := s.joined()
	if err != nil {
		t.Fatal(err)
	}
	j := &job{source: s, swarm: w, left: map[int]bool{}, moved: make(chan struct{}, 1), over: make(chan struct{})}
	for i := range 4 {
		j.left[i] = true
	}
	w.want(j, 0, 4)
	const some = 16 << 10
	if _, err := w.content.write(3, data[:some], 0); err != nil {
		t.Fatal(err)
	}
	w.forget(j)
	if n := len(w.content.shelf.pieces); n > 0 || scratch.written.Load() != pieceLength {
		t.Errorf("%d pieces are in memory, %d bytes in the file", n, scratch.written.Load())
	}
	got := make([]byte, some)
	if n, err := w.content.read(3, got, 0); n != some || err != nil || !bytes.Equal(got, data[:some]) {
		t.Errorf("%d bytes are there, %v", n, err)
	}
}
