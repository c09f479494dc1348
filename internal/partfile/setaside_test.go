package partfile

import (
	"fmt"
	"os"
	"testing"

	"braid/internal/fsys"
)

// A foreign file at a name for files set aside is neither replaced nor removed: the user's own file, a foreign part
// file, and a foreign journal. Proves rule 8.
func TestForeignAside_Rule8(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"the user's own":  {"x.part.bad": "mine"},
		"of a journal":    {"x.part.journal.bad": "mine"},
		"foreign journal": {"x.part.journal": "foreign"},
		"part and foreign journal": {"x.part": "theirs", "x.part.journal": "foreign", "x.part.bad": "mine",
			"x.part.journal.bad": "mine, too"},
		"part without a journal": {"x.part": "theirs", "x.part.bad": "mine"},
		"all of the first few": {"x.part": "theirs", "x.part.bad": "mine", "x.2.part.bad": "mine, too",
			"x.3.part.bad": "and this"},
		"part and an empty journal": {"x.part": "theirs", "x.part.journal": ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range files {
				write(t, in(dir, file), []byte(text))
			}
			key := OpenKey(fsys.OS, in(t.TempDir(), "key"))
			must(t, key.Make())
			// One run is stopped, and the next one succeeds.
			f := open(t, dir)
			f.SealWith(key)
			must(t, f.Begin(Identity{}))
			put(t, f, []byte("ours"), 0)
			must(t, f.Close())
			f = open(t, dir)
			f.SealWith(key)
			must(t, f.Recover(t.Context()))
			must(t, f.Begin(Identity{}))
			must(t, f.Commit(proof(t, []byte("ours")), Final{}))
			wantContent(t, in(dir, "x"), []byte("ours"))
			left := map[string]int{}
			entries, err := os.ReadDir(dir)
			must(t, err)
			for _, e := range entries {
				left[string(read(t, in(dir, e.Name())))]++
			}
			for file, text := range files {
				if text != "" && left[text] != 1 {
					t.Errorf("%s with %q is not there any more: %v", file, text, left)
				}
			}
		})
	}
}

// A file that a download set aside is replaced by the next one, and removed after a success, also after an
// interruption. A file that was put there since stays. Proves rule 8.
func TestOwnAside_Rule8(t *testing.T) {
	dir := t.TempDir()
	key := OpenKey(fsys.OS, in(t.TempDir(), "key"))
	must(t, key.Make())
	run := func(text string) *File {
		f := open(t, dir)
		f.SealWith(key)
		if _, ok := f.Prior(); ok {
			must(t, f.Reset("it is another one"))
		}
		must(t, f.Begin(Identity{}))
		put(t, f, []byte(text), 0)
		return f
	}
	for i := range 4 {
		must(t, run(fmt.Sprintf("try %d", i)).Close())
	}
	wantContent(t, in(dir, "x.part.bad"), []byte("try 2"))
	wantFiles(t, dir, "x.part", "x.part.bad", "x.part.journal")
	f := open(t, dir)
	f.SealWith(key)
	must(t, f.Recover(t.Context()))
	must(t, f.Begin(Identity{}))
	must(t, f.Commit(proof(t, []byte("try 3")), Final{}))
	wantFiles(t, dir, "x")

	must(t, os.Remove(in(dir, "x")))
	must(t, run("try 4").Close())
	must(t, run("try 5").Close())
	must(t, os.Remove(in(dir, "x.part.bad")))
	write(t, in(dir, "x.part.bad"), []byte("the user's"))
	must(t, run("try 6").Commit(proof(t, []byte("try 6")), Final{}))
	wantContent(t, in(dir, "x.part.bad"), []byte("the user's"))
	wantFiles(t, dir, "x", "x.part.bad")
}

// A file set aside is removed by the next success, even if a run without other bytes ended or was interrupted in
// between. The journal is kept for it, and does not count as an unfinished download. Proves rule 8.
func TestAsideOfNothingElse_Rule8(t *testing.T) {
	key := OpenKey(fsys.OS, in(t.TempDir(), "key"))
	must(t, key.Make())
	// begun leaves x.part of one file, and a run that sets it aside for another file.
	begun := func(t *testing.T, dir string) *File {
		f := open(t, dir)
		f.SealWith(key)
		must(t, f.Begin(Identity{URLSum: "1"}))
		put(t, f, []byte("first"), 0)
		must(t, f.Close())
		f = open(t, dir)
		f.SealWith(key)
		must(t, f.Reset("it is another one"))
		must(t, f.MakeWay())
		return f
	}
	finish := func(t *testing.T, dir string) {
		f := open(t, dir)
		f.SealWith(key)
		must(t, f.Begin(Identity{URLSum: "2"}))
		put(t, f, []byte("second"), 0)
		must(t, f.Commit(proof(t, []byte("second")), Final{}))
		wantFiles(t, dir, "x")
	}
	t.Run("ended", func(t *testing.T) {
		dir := t.TempDir()
		must(t, begun(t, dir).Close())
		wantFiles(t, dir, "x.part.bad", "x.part.journal")
		left, aside, err := List(fsys.OS, dir)
		if must(t, err); len(left) != 0 || len(aside) != 1 {
			t.Errorf("%+v, %+v", left, aside)
		}
		f := open(t, dir) // another run that receives no bytes
		f.SealWith(key)
		must(t, f.Close())
		finish(t, dir)
	})
	t.Run("stopped", func(t *testing.T) {
		dir := t.TempDir()
		begun(t, dir).store.release()
		open(t, dir).store.release() // before SealWith
		finish(t, dir)
	})
	t.Run("the file is there", func(t *testing.T) {
		dir := t.TempDir()
		must(t, begun(t, dir).Close())
		write(t, in(dir, "x"), []byte("second"))
		c, err := OpenCommitted(fsys.OS, dir, "x")
		must(t, err)
		c.ClearAsides(OpenKey(fsys.OS, in(t.TempDir(), "other")))
		wantFiles(t, dir, "x", "x.part.bad", "x.part.journal")
		c.ClearAsides(key)
		must(t, c.Clear())
		must(t, c.Close())
		wantFiles(t, dir, "x")
	})
	t.Run("removed", func(t *testing.T) {
		dir := t.TempDir()
		must(t, begun(t, dir).Close())
		_, err := Remove(fsys.OS, dir, "x.part.bad")
		must(t, err)
		wantFiles(t, dir)
	})
}
