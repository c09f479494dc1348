package partfile

import (
	"errors"
	"strings"
	"testing"

	"braid/internal/fsys"
	"braid/internal/test/fsystest"
)

// Changes by another program between the proof and the rename are detected.
func TestTouchedLast_Rule2(t *testing.T) {
	disk := fsystest.NewDisk()
	must(t, fsys.MkdirAll(disk, "/d", 0o777))
	var during func()
	files := fsystest.Tap(disk, func(op fsystest.Op) error {
		if during != nil && op.Name == "write" && strings.HasSuffix(op.Path, ".journal") {
			do := during
			during = nil
			do()
		}
		return nil
	})
	f, err := Open(files, "/d", "x")
	must(t, err)
	must(t, f.Begin(Identity{URL: "https://a.example/x", Size: 3}))
	put(t, f, []byte("abc"), 0)
	must(t, f.Sync())
	during = func() {
		d, name, err := fsys.OpenParent(disk, "/d/x.part")
		must(t, err)
		other, err := d.Open(name)
		must(t, err)
		_, err = other.WriteAt([]byte("xyz"), 0)
		must(t, errors.Join(err, other.Close()))
	}
	if _, touched := errors.AsType[*TouchedError](f.Commit(proof(t, []byte("abc")), Final{})); !touched {
		t.Error("not noticed")
	}
	must(t, f.Discard())
}
