package partfile

import (
	"bytes"
	"testing"

	"braid/byterange"
	"braid/internal/fsys"
)

// newStore returns the store of x in dir, and the content of its journal.
func newStore(t *testing.T, dir string) (*store, history) {
	t.Helper()
	at, err := openPlace(fsys.OS, dir, "x")
	must(t, err)
	s := &store{
		at: at, part: &guarded{path: at.partPath()}, journal: &journal{name: at.name}, ledger: newLedger(idle),
	}
	t.Cleanup(func() { s.ledger.enter(closed) })
	h, _, err := s.journal.open(at)
	must(t, err)
	file, isNew, err := at.openOurs(at.part())
	must(t, err)
	must(t, s.part.start(file, isNew))
	return s, h
}

// filled returns a new store with the bytes p, all of them in its journal.
func filled(t *testing.T, dir string, p []byte) *store {
	t.Helper()
	s, _ := newStore(t, dir)
	must(t, s.journal.record(Identity{Size: int64(len(p))}))
	s.ledger.enter(writing)
	n, err := s.write(p, 0, always, new(byterange.Set))
	must(t, err)
	if n != len(p) {
		t.Fatalf("%d bytes are fresh", n)
	}
	must(t, s.flush())
	return s
}

// What a store has written and a later one inherits is the same, but for the bytes that changed in between and those
// that were voided.
func TestStoreInherits(t *testing.T) {
	t.Parallel()
	dir, p := t.TempDir(), content(3000)
	s := filled(t, dir, p)
	s.ledger.revoke(span(500, 600))
	must(t, s.void())
	must(t, s.release())
	changed := bytes.Clone(p)
	changed[2000]++ // the second of the two runs that the void has left
	write(t, in(dir, "x.part"), changed)

	s, h := newStore(t, dir)
	must(t, s.inherit(h))
	if have := s.ledger.have(); have.Count() != 0 {
		t.Errorf("%v is taken over unchecked", &have)
	}
	must(t, s.recover(t.Context()))
	want := byterange.NewSet(span(0, 500))
	if have := s.ledger.have(); have.String() != want.String() || s.ledger.now() != idle {
		t.Errorf("%v is taken over", &have)
	}
	must(t, s.release())
}

// A discarded store leaves nothing, or only a journal with the list that it was given.
func TestStoreDiscard(t *testing.T) {
	t.Parallel()
	list, err := Identity{Size: -1, asides: []ownAside{{Name: "x.part.bad", Size: 5}}}.encode()
	must(t, err)
	for _, list := range [][]byte{nil, list} {
		dir := t.TempDir()
		must(t, filled(t, dir, content(3000)).discard(list))
		if list == nil {
			wantFiles(t, dir)
			continue
		}
		wantFiles(t, dir, "x.part.journal")
		s, h := newStore(t, dir)
		if len(h.runs) != 0 || len(h.identity.asides) != 1 || h.identity.asides[0].Name != "x.part.bad" {
			t.Errorf("the journal has %+v", h)
		}
		must(t, s.release())
	}
}

// An empty store begins anew, under the same name or after the file got another one.
func TestStoreBeginsAnew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := filled(t, dir, []byte("before"))
	must(t, s.at.dir.Rename("x.part", "y"))
	must(t, s.renew())
	must(t, s.empty(nil))
	if h, err := s.journal.history(); err != nil || h.known || len(h.runs) != 0 {
		t.Errorf("the journal has %+v, %v", h, err)
	}
	s.ledger.enter(writing)
	_, err := s.write([]byte("after"), 0, always, new(byterange.Set))
	must(t, err)
	must(t, second(s.at.check(s.part)))
	must(t, s.release())
	wantContent(t, in(dir, "y"), []byte("before"))
	wantContent(t, in(dir, "x.part"), []byte("after"))
}
