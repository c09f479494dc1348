package torrentsource

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"braid/byterange"
	"braid/metalink"
	"braid/metalink/metainfo"
	"braid/source"
)

// FuzzPieces invents torrents of several files, ranges of them, and what is here of each, and compares the ways from
// bytes of files to pieces and back with one value for each byte of the torrent.
func FuzzPieces(f *testing.F) {
	f.Add(uint8(10), []byte{25, 3, 10, 10, 0, 7}, uint64(1))
	f.Add(uint8(1), []byte{1, 1, 1}, uint64(2))
	f.Add(uint8(200), []byte{3, 4, 5}, uint64(3))
	f.Add(uint8(16), []byte{16, 32, 15, 17}, uint64(4))
	f.Fuzz(func(t *testing.T, length uint8, sizes []byte, seed uint64) {
		if length == 0 || len(sizes) == 0 || len(sizes) > 12 {
			return
		}
		m := newMapped(int64(length), sizes, seed)
		for _, s := range m.sources {
			checkPieces(t, s, m.rng)
			checkTraits(t, s)
		}
		m.checkContent(t)
	})
}

// A mapped is a torrent whose bytes are data, with a source for each of its files that has bytes, and one bool for each
// byte of data that says whether it is here.
type mapped struct {
	rng     *rand.Rand
	data    []byte
	here    []bool
	sources []*Source
	content *content
}

func newMapped(length int64, sizes []byte, seed uint64) *mapped {
	m := &mapped{rng: rand.New(rand.NewPCG(seed, 1))}
	for _, n := range sizes {
		for range n {
			m.data = append(m.data, byte(m.rng.Uint32()))
		}
	}
	m.here = make([]bool, len(m.data))
	m.content = newContent(length, int64(len(m.data)), nil)
	torrent := metainfo.Torrent{PieceLength: length, Size: int64(len(m.data))}
	at := int64(0)
	for _, n := range sizes {
		file := metainfo.File{File: metalink.File{Size: int64(n)}, Offset: at}
		at += file.Size
		if n == 0 { // nobody asks for one
			continue
		}
		s := &Source{torrent: torrent, file: file, options: source.SwarmOptions{Part: bytes.NewReader(m.data[file.Offset:at])}}
		m.sources = append(m.sources, s)
		m.content.enter(s, byterange.Set{})
		for range 3 {
			r := m.rangeOf(s)
			m.content.here(s, r)
			m.mark(s, r, true)
		}
		r := m.rangeOf(s)
		m.content.gone(s, r)
		m.mark(s, r, false)
	}
	return m
}

// rangeOf is some range of a file.
func (m *mapped) rangeOf(s *Source) byterange.Range { return someRange(m.rng, s.file.Size) }

func someRange(rng *rand.Rand, size int64) byterange.Range {
	a, b := rng.Int64N(size+1), rng.Int64N(size+1)
	return byterange.Range{Start: min(a, b), End: max(a, b)}
}

func (m *mapped) mark(s *Source, r byterange.Range, here bool) {
	for i := r.Start; i < r.End; i++ {
		m.here[s.file.Offset+i] = here
	}
}

// checkPieces: the parts of the pieces that have bytes of a range are that range, once, and no other piece has any of it.
func checkPieces(t *testing.T, s *Source, rng *rand.Rand) {
	t.Helper()
	n := s.torrent.PieceLength
	for range 4 {
		r := someRange(rng, s.file.Size)
		if r.Empty() {
			continue
		}
		first, last := s.pieces(r)
		at := s.within(first).Start
		for i := first; i < last; i++ {
			in := s.within(i)
			if in.Empty() || in.Start != at || s.file.Offset+in.Start < int64(i)*n || s.file.Offset+in.End > int64(i+1)*n {
				t.Fatalf("piece %d of %v, of length %d and at %d, has %v", i, r, n, s.file.Offset, in)
			}
			at = in.End
		}
		if s.within(first).End <= r.Start || s.within(last-1).Start >= r.End || s.within(first).Start > r.Start || at < r.End {
			t.Fatalf("%v is said to be in the pieces from %d to %d", r, first, last)
		}
	}
}

// checkTraits: ranges that begin and end where the scheduler may cut begin and end with pieces.
func checkTraits(t *testing.T, s *Source) {
	t.Helper()
	traits := s.Traits()
	for off := range s.file.Size {
		cut := (off-traits.Lead)%traits.Align == 0
		if begins := (s.file.Offset+off)%s.torrent.PieceLength == 0; cut != begins {
			t.Fatalf("at %d of a file at %d: may be cut %t, a piece begins %t", off, s.file.Offset, cut, begins)
		}
	}
}

// checkContent: a piece is backed if each of its bytes is here, whichever files they are of, and then it reads as what
// the files have.
func (m *mapped) checkContent(t *testing.T) {
	t.Helper()
	c := m.content
	covered := int64(0)
	for i := 0; covered < c.size; i++ {
		r := c.at(i)
		if r.Start != covered || r.Empty() {
			t.Fatalf("piece %d is %v, and those before it end at %d", i, r, covered)
		}
		covered = r.End
		all := true
		for _, here := range m.here[r.Start:r.End] {
			all = all && here
		}
		if c.backed(i) != all {
			t.Fatalf("piece %d, %v: backed is %t, want %t", i, r, !all, all)
		}
		if !all {
			continue
		}
		part := someRange(m.rng, r.Len())
		got := make([]byte, part.Len()+3) // what follows is of another piece
		n, err := c.read(i, got, part.Start)
		want := m.data[r.Start+part.Start : min(r.Start+part.End+3, r.End)]
		if err != nil || !bytes.Equal(got[:n], want) {
			t.Fatalf("piece %d from %d on: %d bytes, want %d, %v", i, part.Start, n, len(want), err)
		}
	}
	if covered != c.size {
		t.Fatalf("the pieces end at %d of %d", covered, c.size)
	}
}

// What cannot be read for a peer is no error while the torrent may be closed: the library would end the program.
func TestReadForPeerNeverFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newContent(10, 25, broken{})
		read := func() (err error) {
			_, err = piece{c, 1}.ReadAt(make([]byte, 5), 0)
			return err
		}
		began := time.Now()
		if err := read(); err == nil || time.Since(began) != lateAnswer {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		answer := make(chan error)
		go func() { answer <- read() }()
		synctest.Wait()
		select {
		case err := <-answer:
			t.Errorf("%v before all is over", err)
		default:
		}
		close(c.over)
		if err := <-answer; err != nil {
			t.Error(err)
		}
	})
}

// When a source has left, nobody waits for an answer any more.
func TestCloseAnswersPeers(t *testing.T) {
	data := made(t, pieceLength, 1)
	src, _ := seeder(t, torrentOf(t, data), data)
	c := src.swarm.content
	src.Close()
	select {
	case <-c.over:
	default:
		t.Error("reads go on to wait")
	}
}

// A broken scratch file cannot be read.
type broken struct{ source.Scratch }

func (broken) ReadAt([]byte, int64) (int, error) { return 0, io.ErrUnexpectedEOF }
