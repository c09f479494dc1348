package download

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"braid/internal/fsys"
	"braid/internal/partfile"
)

// The first update of the journal is left out, because a small file is in place before the second one. The second one
// makes up for a sync that was due.
func TestRecordAfterFirst(t *testing.T) {
	dir := t.TempDir()
	part, err := partfile.Open(fsys.OS, dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()
	if err := part.Begin(partfile.Identity{Size: 200}); err != nil {
		t.Fatal(err)
	}
	var workers sync.WaitGroup
	d := disk{part: part, fail: func(err error) { t.Error(err) }, workers: &workers}
	size := func() int64 {
		info, err := os.Stat(filepath.Join(dir, "x.part.journal"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	for i, grows := range []bool{false, true, true} {
		if _, err := part.WriteAt(make([]byte, 50), int64(50*i)); err != nil {
			t.Fatal(err)
		}
		before := size()
		d.record(i == 0)
		workers.Wait()
		if grew := size() > before; grew != grows || d.due != (i == 0) {
			t.Errorf("update %d: recorded: %v, a sync is due: %v", i, grew, d.due)
		}
	}
}
