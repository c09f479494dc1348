package partfile

import (
	"testing"

	"braid/internal/fsys"
)

// newAsides returns the asides of x in dir, with a journal that a key seals.
func newAsides(t *testing.T, dir string, key *Key) *asides {
	t.Helper()
	at, err := openPlace(fsys.OS, dir, "x")
	must(t, err)
	t.Cleanup(func() { at.close() })
	j := &journal{name: at.name, key: key}
	h, _, err := j.open(at)
	must(t, err)
	t.Cleanup(func() { j.file.Close() })
	j.size, j.identity = h.size, h.payload
	return &asides{at: at, journal: j, before: oldAsides{h.payload, h.identity.asides}}
}

func (a *asides) takeNew(t *testing.T, p []byte, own bool) string {
	t.Helper()
	part, _, err := a.at.openOurs(a.at.part())
	must(t, err)
	defer part.Close()
	_, err = part.WriteAt(p, 0)
	must(t, err)
	name, taken, err := a.take(part, own)
	must(t, err)
	if taken != (len(p) > 0) {
		t.Errorf("%d bytes: taken: %v", len(p), taken)
	}
	return name
}

// Each file gets a name of its own. A file of braid's goes when the next one comes, any other stays.
func TestAsidesTake(t *testing.T) {
	t.Parallel()
	key := OpenKey(fsys.OS, in(t.TempDir(), "key"))
	must(t, key.Make())
	dir := t.TempDir()
	a := newAsides(t, dir, key)
	if a.takeNew(t, nil, true); a.any() {
		t.Error("an empty file was set aside")
	}
	for _, step := range []struct {
		own  bool
		name string
		left []string
	}{
		{false, "x.part.bad", []string{"x.part.bad"}},
		{true, "x.2.part.bad", []string{"x.part.bad", "x.2.part.bad"}},
		{true, "x.2.part.bad", []string{"x.part.bad", "x.2.part.bad"}},
		{false, "x.3.part.bad", []string{"x.part.bad", "x.2.part.bad", "x.3.part.bad"}},
	} {
		if name := a.takeNew(t, []byte("bytes"), step.own); name != step.name {
			t.Errorf("it is called %s, want %s", name, step.name)
		}
		wantFiles(t, dir, append(step.left, "x.part.journal")...)
	}
	if !a.any() || len(a.list()) != 1 {
		t.Errorf("%v is listed", a.list())
	}
	a.remove()
	wantFiles(t, dir, "x.part.bad", "x.3.part.bad", "x.part.journal")
}

// A later run knows the files from the journal, if the same key sealed it.
func TestAsidesOfJournal(t *testing.T) {
	t.Parallel()
	key, other := OpenKey(fsys.OS, in(t.TempDir(), "key")), OpenKey(fsys.OS, in(t.TempDir(), "key"))
	must(t, key.Make())
	must(t, other.Make())
	dir := t.TempDir()
	a := newAsides(t, dir, key)
	a.takeNew(t, []byte("bytes"), true)
	list, err := a.payload()
	must(t, err)
	must(t, a.journal.restart(list))
	a.journal.file.Close()
	for _, k := range []*Key{nil, other, key} {
		later := newAsides(t, dir, k)
		if later.any() != (k == key) {
			t.Errorf("with the key %v: %v", k, later.list())
		}
		later.remove()
		later.journal.file.Close()
		wantFiles(t, dir, map[bool][]string{
			false: {"x.part.bad", "x.part.journal"}, true: {"x.part.journal"},
		}[k == key]...)
	}
}
