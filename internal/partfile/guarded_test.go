package partfile

import (
	"errors"
	"os"
	"testing"
	"time"
)

// A small new file is not watched. Changes by other programs are detected by its size and times: before the first byte,
// between two writes, and at the end. The bytes are then compared, and only right ones stay.
func TestTouchedEarly_Rule2(t *testing.T) {
	for when, name := range []string{"before", "between", "after"} {
		dir := t.TempDir()
		f := open(t, dir)
		must(t, f.Begin(Identity{URL: "https://a.example/x", Size: 6}))
		for i := range 3 {
			if i == when {
				scribble(t, f)
			}
			if i < 2 {
				put(t, f, []byte("abcdef")[3*i:3*i+3], int64(3*i))
			}
		}
		if !f.store.part.early.Load() {
			t.Errorf("%s: it is watched", name)
		}
		_, touched := errors.AsType[*TouchedError](f.Commit(proof(t, []byte("abcdef")), Final{}))
		if !touched {
			t.Fatalf("%s: not noticed", name)
		}
		if _, touched = errors.AsType[*TouchedError](f.Commit(proof(t, []byte("abcdef")), Final{})); !touched {
			t.Errorf("%s: forgotten", name)
		}
		wrong, err := f.Recheck(t.Context())
		must(t, err)
		if want := [...]int64{0, 6, 6}[when]; wrong.Len() != want {
			t.Errorf("%s: %v is wrong", name, &wrong)
		}
		for r := range wrong.All() {
			put(t, f, []byte("abcdef")[r.Start:r.End], r.Start)
		}
		must(t, f.Commit(proof(t, []byte("abcdef")), Final{}))
		wantContent(t, in(dir, "x"), []byte("abcdef"))
	}
}

// scribble writes to the part file as another program would, at a time that differs from that of our last write.
func scribble(t *testing.T, f *File) {
	t.Helper()
	other, err := os.OpenFile(f.Path(), os.O_WRONLY, 0)
	must(t, err)
	_, err = other.WriteAt([]byte("zzzzzz"), 0)
	must(t, errors.Join(err, other.Close(), os.Chtimes(f.Path(), time.Time{}, time.Unix(1, 0))))
}

// A file is watched once it is large or lasts, and from the start if it is not new.
func TestWatchBegins_Rule2(t *testing.T) {
	watched := func(name string, f *File) {
		t.Helper()
		if f.store.part.early.Load() {
			t.Errorf("%s: it is not watched", name)
		}
	}
	f := begun(t, t.TempDir(), content(watchedSize), 0)
	if !f.store.part.early.Load() {
		t.Error("it is watched from the start")
	}
	put(t, f, []byte("x"), watchedSize)
	watched("large", f)

	dir := t.TempDir()
	f = begun(t, dir, []byte("abc"), 0)
	must(t, f.Flush())
	watched("lasts", f)
	must(t, f.Close())
	watched("not new", recovered(t, dir))

	f = begun(t, t.TempDir(), nil, 0)
	must(t, f.Preallocate(10))
	watched("room", f)
}
