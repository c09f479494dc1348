package torrentsource

import (
	"bytes"
	"context"
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"braid/address"
	"braid/byterange"
	"braid/internal/test/sourcetest"
	"braid/source"
)

// Ranges come from a peer, whole or not, and nothing beside them.
func TestFetch(t *testing.T) {
	data := made(t, 20*pieceLength+123, 1)
	m := torrentOf(t, data)
	_, addr := seeder(t, m, data)
	c := newClient(t, &Client{})
	for _, r := range []byterange.Range{
		whole, part(0, 1), part(5*pieceLength, 7*pieceLength), part(100, 3*pieceLength-5),
		part(20*pieceLength, 20*pieceLength+123),
		part(19*pieceLength+7, byterange.Unbounded),
	} {
		s := c.Source(m, m.Files[0], source.SwarmOptions{Peers: []string{addr}, Named: near})
		k := newSink(t, m.Size)
		if err := s.Fetch(t.Context(), r, k); err != nil {
			t.Fatalf("%v: %v", r, err)
		}
		r.End = min(r.End, m.Size)
		wantBytes(t, k, data, r)
		a := k.answer
		if a.Host != source.SwarmHost || a.Start != r.Start || a.End != r.End || a.Size != m.Size || !a.Ranged || a.ETag == "" {
			t.Errorf("answer is %+v", a)
		}
		if addrs := s.Addrs(); len(addrs) > 0 {
			t.Errorf("it listens at %v", addrs)
		}
		s.Close()
	}
}

// Pieces come from the beginning on, so that the file can be read for its proof while the rest comes.
func TestFetchInOrder(t *testing.T) {
	data := made(t, 400*pieceLength, 1)
	m := torrentOf(t, data)
	_, addr := seeder(t, m, data)
	s := newClient(t, &Client{}).Source(m, m.Files[0], source.SwarmOptions{Peers: []string{addr}, Named: near})
	defer s.Close()
	k := newSink(t, m.Size)
	early := int64(-1) // how much of the first half is here when half of all is; a piece may be late whose check is
	k.wrote = func() {
		if early < 0 && k.here.Len() >= m.Size/2 {
			early = 0
			for r := range k.here.Covered(part(0, m.Size/2)) {
				early += r.Len()
			}
		}
	}
	if err := s.Fetch(t.Context(), whole, k); err != nil {
		t.Fatal(err)
	}
	if early < m.Size*3/8 {
		t.Errorf("with half of the file %d bytes of its first half are here", early)
	}
}

// One source may be asked for one range after the other, and for what it brought before.
func TestFetchAgain(t *testing.T) {
	data := made(t, 8*pieceLength, 1)
	m := torrentOf(t, data)
	_, addr := seeder(t, m, data)
	s := newClient(t, &Client{}).Source(m, m.Files[0], source.SwarmOptions{Part: bytes.NewReader(data),
		Peers: []string{addr}, Named: near})
	defer s.Close()
	for _, r := range []byterange.Range{part(0, pieceLength), part(0, 4*pieceLength), part(3*pieceLength, m.Size),
		part(0, m.Size)} {
		k := newSink(t, m.Size)
		if err := s.Fetch(t.Context(), r, k); err != nil {
			t.Fatal(err)
		}
		wantBytes(t, k, data, r)
		s.Gone(r)
	}
}

// A range that is lowered ends there, at once, and an answer that is refused brings nothing.
func TestShrinkAndRefuse(t *testing.T) {
	data := made(t, 40*pieceLength, 1)
	m := torrentOf(t, data)
	_, addr := seeder(t, m, data)
	s := newClient(t, &Client{}).Source(m, m.Files[0], source.SwarmOptions{Peers: []string{addr}, Named: near})
	defer s.Close()
	k := newSink(t, m.Size)
	const end = 3*pieceLength + 9
	k.wrote = func() { k.shrink(end) }
	if err := s.Fetch(t.Context(), whole, k); err != nil {
		t.Fatal(err)
	}
	if !k.here.Contains(part(0, end)) {
		t.Errorf("got %v", k.here.String())
	}
	no := errors.New("not wanted")
	k = newSink(t, m.Size)
	k.refuse = no
	if err := s.Fetch(t.Context(), whole, k); err != no {
		t.Errorf("error is %v, want the sink's own", err)
	}
}

// A Fetch that is cancelled ends, also when nobody has anything, and what it had begun another goes on with.
func TestCancel(t *testing.T) {
	data := made(t, 40*pieceLength, 1)
	m := torrentOf(t, data)
	_, addr := seeder(t, m, data)
	s := newClient(t, &Client{}).Source(m, m.Files[0], source.SwarmOptions{Peers: []string{addr}, Named: near})
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	k := newSink(t, m.Size)
	k.wrote = cancel
	if err := s.Fetch(ctx, whole, k); err != context.Canceled && err != nil {
		t.Errorf("error is %v", err)
	}
	k = newSink(t, m.Size)
	if err := s.Fetch(t.Context(), whole, k); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, k, data, part(0, m.Size))
}

// Where no peer brings anything, the source says so, and that it may be better later.
func TestNobody_Rule21(t *testing.T) {
	data := made(t, 2*pieceLength, 1)
	m := torrentOf(t, data)
	s := newClient(t, &Client{SwarmConfig: source.SwarmConfig{Timeout: 50 * time.Millisecond}}).Source(m, m.Files[0],
		source.SwarmOptions{})
	defer s.Close()
	sourcetest.Fault(t, s.Fetch(t.Context(), whole, newSink(t, m.Size)), source.FaultNetwork, true)
}

// Rule 63: a peer that somebody far away names is not connected to on this machine.
func TestNear_Rule63(t *testing.T) {
	data := made(t, 2*pieceLength, 1)
	m := torrentOf(t, data)
	_, addr := seeder(t, m, data)
	c := newClient(t, &Client{SwarmConfig: source.SwarmConfig{Timeout: 3 * time.Second}})
	s := c.Source(m, m.Files[0], source.SwarmOptions{Peers: []string{addr}, Named: address.Public})
	defer s.Close()
	err := sourcetest.Fault(t, s.Fetch(t.Context(), whole, newSink(t, m.Size)), source.FaultRefused, false)
	if _, ok := errors.AsType[*address.Error](err.Err); !ok {
		t.Errorf("error is %v", err)
	}
}

// A peer that lies brings nothing: what is wrong does not leave the package.
func TestLiar_S10(t *testing.T) {
	data, other := made(t, 8*pieceLength, 1), made(t, 8*pieceLength, 2)
	m := torrentOf(t, data)
	liar, addr := seeder(t, m, other)
	liar.swarm.content.mu.Lock()
	for i := range 8 { // it believes that it has the file
		liar.swarm.content.proven[i] = true
	}
	liar.swarm.content.mu.Unlock()
	for i := range 8 {
		liar.swarm.torrent.Piece(i).UpdateCompletion()
	}
	s := newClient(t, &Client{SwarmConfig: source.SwarmConfig{Timeout: 3 * time.Second}}).Source(m, m.Files[0],
		source.SwarmOptions{Peers: []string{addr}, Named: near})
	defer s.Close()
	k := newSink(t, m.Size)
	e := sourcetest.Fault(t, s.Fetch(t.Context(), whole, k), source.FaultNetwork, true)
	if k.here.Len() > 0 || k.answer == nil {
		t.Errorf("%v: %d bytes came, answer %v", e, k.here.Len(), k.answer)
	}
}

// What others brought is checked and given to peers; what is wrong of it is not.
func TestHere(t *testing.T) {
	data := made(t, 16*pieceLength, 1)
	m := torrentOf(t, data)
	bad := bytes.Clone(data)
	bad[9*pieceLength] ^= 1
	_, addr := seeder(t, m, bad)
	s := newClient(t, &Client{}).Source(m, m.Files[0], source.SwarmOptions{Peers: []string{addr}, Named: near})
	defer s.Close()
	for _, r := range []byterange.Range{part(0, 9*pieceLength), part(10*pieceLength, m.Size)} {
		k := newSink(t, m.Size)
		if err := s.Fetch(t.Context(), r, k); err != nil {
			t.Fatal(err)
		}
		wantBytes(t, k, data, r)
	}
	s.client.Timeout = 200 * time.Millisecond
	sourcetest.Fault(t, s.Fetch(t.Context(), part(9*pieceLength, 10*pieceLength), newSink(t, m.Size)), source.FaultNetwork, true)
}

// Pieces that run across the ends of files come whole, and each file gets its own of them.
func TestSeveralFiles(t *testing.T) {
	files := [][]byte{made(t, 3*pieceLength+100, 1), made(t, 70, 2), made(t, 2*pieceLength+5, 3)}
	m := torrentOf(t, files...)
	_, addr := seeder(t, m, files...)
	c := newClient(t, &Client{})
	var all []*Source
	for i, f := range m.Files {
		s := c.Source(m, f, source.SwarmOptions{Part: bytes.NewReader(files[i]), Peers: []string{addr}, Named: near})
		defer s.Close()
		all = append(all, s)
		k := newSink(t, f.Size)
		if err := s.Fetch(t.Context(), whole, k); err != nil {
			t.Fatal(err)
		}
		wantBytes(t, k, files[i], part(0, f.Size))
	}
	if len(c.swarms) != 1 {
		t.Errorf("%d swarms", len(c.swarms))
	}
	for _, s := range all {
		if want := -s.file.Offset % pieceLength; s.Traits().Lead != want || s.Traits().Align != pieceLength {
			t.Errorf("traits are %+v", s.Traits())
		}
	}
}

// Nothing runs and nothing is open before a source is asked for something, nor after it was closed.
func TestCostsNothing(t *testing.T) {
	data := made(t, 2*pieceLength, 1)
	m := torrentOf(t, data)
	files := func() int {
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(fds)
	}
	goroutines, open := runtime.NumGoroutine(), files()
	c := &Client{}
	s := c.Source(m, m.Files[0], source.SwarmOptions{})
	s.Here(part(0, 1))
	s.Gone(part(0, 1))
	s.Close()
	c.Close()
	// others may come and go
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutines || files() > open; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines and %d files more", runtime.NumGoroutine()-goroutines, files()-open)
		}
	}
	sourcetest.Fault(t, s.Fetch(t.Context(), whole, newSink(t, m.Size)), source.FaultNetwork, false)
}
