package fsys

import (
	"os"
	"path/filepath"
	"testing"
)

// A guard detects what other programs do to a file after Watch, and ignores our own writes.
func TestGuard_Rule2(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	own, err := os.Create(path)
	must(t, err)
	defer own.Close()
	f := osFile{own}
	guard, err := f.Guard()
	must(t, err)
	written := func(want bool) {
		t.Helper()
		if got, err := guard.Written(); got != want || err != nil {
			t.Errorf("written: %v, %v", got, err)
		}
	}
	open := func(want bool) {
		t.Helper()
		if got := guard.Open(); got != want {
			t.Errorf("open: %v", got)
		}
	}
	foreign := func() *os.File {
		t.Helper()
		other, err := os.OpenFile(path, os.O_WRONLY, 0)
		must(t, err)
		_, err = other.WriteAt([]byte("x"), 0)
		must(t, err)
		return other
	}
	must(t, foreign().Close())
	written(false) // before Watch
	must(t, guard.Watch())
	_, err = own.Write([]byte("abc"))
	must(t, err)
	written(false)
	open(false)
	other := foreign()
	open(true)
	must(t, other.Close())
	open(false)
	written(true)
	written(true)
	guard.Forget()
	written(false)
	if guard.Hole(3) {
		t.Error("a hole in what was written")
	}
	must(t, own.Truncate(1<<20))
	if !guard.Hole(1 << 20) {
		t.Error("no hole was found")
	}
	must(t, guard.Close())
	must(t, guard.Close())
	must(t, own.Close())
	if gone, err := f.Guard(); err == nil && gone.Watch() == nil {
		t.Error("a closed file is watched")
	}
}
