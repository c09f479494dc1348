package partfile

import (
	"bytes"
	"os"
	"testing"

	"braid/internal/fsys"
)

// Bytes of a scratch file may be written again and released, and no file is left in the folder.
func TestScratch(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenScratch(fsys.OS, dir)
	must(t, err)
	p := content(1 << 20)
	for range 2 {
		if _, err := s.WriteAt(p, 1<<20); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(p))
		if _, err := s.ReadAt(got, 1<<20); err != nil || !bytes.Equal(got, p) {
			t.Fatalf("read back: %v", err)
		}
		must(t, s.Release(1<<20, 1<<20))
		if _, err := s.ReadAt(got, 1<<20); err != nil || !bytes.Equal(got, make([]byte, len(p))) {
			t.Fatalf("after it was given back: %v, or not zero", err)
		}
	}
	var names []os.DirEntry
	if names, err = os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("in the folder is %v, %v", names, err)
	}
	must(t, s.Close())
	if _, err := s.WriteAt(p, 0); err == nil {
		t.Error("it can be written after it was closed")
	}
}
