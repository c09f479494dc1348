package partfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/internal/fsys"
)

// list calls List, which must succeed.
func list(t *testing.T, dir string) ([]Left, []Aside) {
	t.Helper()
	left, aside, err := List(fsys.OS, dir)
	must(t, err)
	return left, aside
}

// TestList: List returns the downloads in a folder, their progress, and the processes that have them open.
func TestList(t *testing.T) {
	dir := t.TempDir()
	f := begun(t, dir, content(1000), 500)
	must(t, f.Begin(Identity{URL: "https://a.example/x", Size: 4000, Require: "digest"}))
	must(t, f.Flush())
	write(t, in(dir, "y.part"), []byte("of a browser"))
	write(t, in(dir, "z.part.bad"), []byte("wrong"))
	write(t, in(dir, ".part.journal"), header)
	left, aside := list(t, dir)
	if len(left) != 1 || len(aside) != 1 {
		t.Fatalf("%+v, %+v", left, aside)
	}
	l := left[0]
	if l.Path != in(dir, "x.part") || l.Name != "x" || !l.Known || l.Have.Len() != 1000 || l.Identity.Size != 4000 ||
		l.Identity.Require != "digest" {
		t.Errorf("%+v", l)
	}
	if !l.InUse || time.Since(l.Changed) > time.Hour {
		t.Errorf("in use: %v, by %d, changed %v", l.InUse, l.PID, l.Changed)
	}
	if a := aside[0]; a.Path != in(dir, "z.part.bad") || a.Name != "z" || a.Size != 5 {
		t.Errorf("%+v", a)
	}
	must(t, f.Close())
	if left, _ = list(t, dir); left[0].InUse {
		t.Error("in use after it was closed")
	}
	must(t, open(t, dir).Close()) // List has not kept the lock
	if l, ok, err := Look(fsys.OS, dir, "x"); !ok || err != nil || l.Have.Len() != 1000 {
		t.Errorf("%+v, %v, %v", l, ok, err)
	}
	if _, ok, err := Look(fsys.OS, dir, "y"); ok || err != nil {
		t.Errorf("a part file without a journal is taken for ours: %v", err)
	}
}

// TestAmend_Rule34: what is known of the bytes of an earlier run is recorded whether or not they are of use. A record without
// this user's seal gets none by that.
func TestAmend_Rule34(t *testing.T) {
	dir := t.TempDir()
	key := OpenKey(fsys.OS, in(dir, "key"))
	must(t, key.Make())
	amend := func(k *Key, useless bool) Left {
		f := open(t, dir)
		f.SealWith(k)
		if useless {
			must(t, f.Reset("another file"))
		}
		must(t, f.Amend(func(id *Identity) { id.Size++ }))
		must(t, f.Close())
		l, _, err := Look(fsys.OS, dir, "x")
		must(t, err)
		return l
	}
	f := open(t, dir)
	f.SealWith(key)
	must(t, f.Begin(Identity{URL: "https://a.example/x", Size: 4000}))
	put(t, f, content(1000), 500)
	must(t, f.Close())
	for i, useless := range []bool{false, true} {
		if l := amend(key, useless); l.Identity.Size != 4001+int64(i) || !l.SealedBy(key) || l.Have.Len() != 1000 {
			t.Errorf("%+v", l)
		}
	}
	other := OpenKey(fsys.OS, in(dir, "other"))
	must(t, other.Make())
	if l := amend(other, false); l.Identity.Size != 4002 || !l.SealedBy(key) {
		t.Errorf("%+v", l)
	}
}

// TestListCutPart: a journal may list bytes beyond the end of the part file.
func TestListCutPart(t *testing.T) {
	dir := t.TempDir()
	f := begun(t, dir, content(1000), 0)
	must(t, f.Close())
	must(t, os.Truncate(in(dir, "x.part"), 900))
	if left, _ := list(t, dir); left[0].Have.Len() != 0 {
		t.Errorf("%d bytes", left[0].Have.Len())
	}
}

// TestListForeign_Rule1: foreign files are neither listed nor removed.
func TestListForeign_Rule1(t *testing.T) {
	for what, make := range map[string]func(t *testing.T, dir string){
		"not a journal": func(t *testing.T, dir string) {
			write(t, in(dir, "x.part.journal"), []byte("something else, and long"))
		},
		"a link": func(t *testing.T, dir string) { must(t, os.Symlink("/etc/passwd", in(dir, "x.part.journal"))) },
		"two names": func(t *testing.T, dir string) {
			must(t, begun(t, dir, content(10), 0).Close())
			must(t, os.Link(in(dir, "x.part.journal"), in(dir, "other")))
		},
		"a folder":    func(t *testing.T, dir string) { must(t, os.Mkdir(in(dir, "x.part.journal"), 0o700)) },
		"linked away": func(t *testing.T, dir string) { must(t, os.Symlink("nowhere", in(dir, "x.part.bad"))) },
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			make(t, dir)
			if left, aside := list(t, dir); len(left)+len(aside) > 0 {
				t.Errorf("%+v, %+v", left, aside)
			}
			for _, name := range []string{"x", "x.part.bad"} {
				if removed, err := Remove(fsys.OS, dir, name); !errors.Is(err, fs.ErrNotExist) || len(removed) > 0 {
					t.Errorf("%s: removed %v, %v", name, removed, err)
				}
			}
		})
	}
}

// TestRemove: both files are removed, and no other.
func TestRemove(t *testing.T) {
	dir := t.TempDir()
	f := begun(t, dir, content(10), 0)
	must(t, f.Flush())
	_, err := Remove(fsys.OS, dir, "x")
	wantInUse(t, err, os.Getpid())
	must(t, f.Close())
	write(t, in(dir, "x"), []byte("there already"))
	removed, err := Remove(fsys.OS, dir, "x")
	if want := []string{in(dir, "x.part"), in(dir, "x.part.journal")}; err != nil || !slices.Equal(removed, want) {
		t.Errorf("removed %v, %v", removed, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != "x" {
		t.Errorf("left are %v, %v", entries, err)
	}
	write(t, in(dir, "x.part.bad"), []byte("wrong"))
	if removed, err := Remove(fsys.OS, dir, "x.part.bad"); err != nil || len(removed) != 1 {
		t.Errorf("removed %v, %v", removed, err)
	}
}

// TestRemoveUnknownPart: a part file with an empty journal may be foreign and stays.
func TestRemoveUnknownPart(t *testing.T) {
	dir := t.TempDir()
	write(t, in(dir, "x.part.journal"), header)
	write(t, in(dir, "x.part"), []byte("of a browser"))
	removed, err := Remove(fsys.OS, dir, "x")
	if err != nil || !slices.Equal(removed, []string{in(dir, "x.part.journal")}) {
		t.Errorf("removed %v, %v", removed, err)
	}
}

func TestNameOf(t *testing.T) {
	for path, want := range map[string]string{
		"a.iso": "a.iso", "a.iso.part": "a.iso", "d/a.iso.part.journal": "d/a.iso", ".part": ".part",
		"d/.part": "d/.part", "a.part.bad": "a.part.bad",
	} {
		if got := NameOf(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// FuzzListJournal: for every content of a journal, List succeeds, and Remove never removes the file itself.
func FuzzListJournal(f *testing.F) {
	f.Add([]byte(header))
	f.Add([]byte("braidjnl"))
	f.Add(bytes.Repeat([]byte{0xff}, 40))
	f.Fuzz(func(t *testing.T, journal []byte) {
		dir := t.TempDir()
		write(t, in(dir, "x"), []byte("the file"))
		write(t, in(dir, "x.part"), []byte("some bytes"))
		write(t, in(dir, "x.part.journal"), journal)
		left, _ := list(t, dir)
		for _, l := range left {
			if l.Have.Len() > 10 {
				t.Fatalf("%d bytes of 10", l.Have.Len())
			}
		}
		removed, err := Remove(fsys.OS, dir, "x")
		if (err == nil) != (len(left) == 1) {
			t.Fatalf("listed %d, removed %v, %v", len(left), removed, err)
		}
		for _, path := range removed {
			if !strings.HasPrefix(path, in(dir, "x.part")) {
				t.Fatalf("removed %s", path)
			}
		}
		if _, err := os.Stat(in(dir, "x")); err != nil {
			t.Fatal(err)
		}
	})
}
