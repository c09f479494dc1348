package partfile

import (
	"errors"
	"os"
	"testing"
	"time"

	"braid/internal/fsys"
	"braid/internal/test/fsystest"
)

// Each failure is reported by the call in which it happens, so that bytes that are not recorded or not on disk are
// never assumed to be.
func TestFailuresAreTold_Rule7(t *testing.T) {
	full := errors.New("no room")
	for n := 1; ; n++ {
		disk := fsystest.NewDisk()
		must(t, fsys.MkdirAll(disk, "/d", 0o777))
		left, failed := 0, ""
		files := fsystest.Tap(disk, func(op fsystest.Op) error {
			if left--; left != 0 {
				return nil
			}
			failed = op.Name + " " + op.Path
			return full
		})
		f, err := Open(files, "/d", "x")
		must(t, err)
		left = n
		for _, call := range []struct {
			name string
			do   func() error
		}{
			{"Begin", func() error { return f.Begin(Identity{URL: "https://a.example/x", Size: 1000}) }},
			{"WriteAt", func() error { _, err := f.WriteAt(content(1000), 0); return err }},
			{"Flush", f.Flush},
			{"Sync", f.Sync},
		} {
			if err = call.do(); (err != nil) != (failed != "") || err != nil && !errors.Is(err, full) {
				t.Errorf("%s, when %q fails: %v", call.name, failed, err)
			}
			if failed != "" {
				break
			}
		}
		f.Close()
		if failed == "" {
			return
		}
	}
}

// Changed is the later time of part file and journal.
func TestListChanged(t *testing.T) {
	dir := t.TempDir()
	must(t, begun(t, dir, content(10), 0).Close())
	early := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	for name, other := range map[string]string{"x.part": "x.part.journal", "x.part.journal": "x.part"} {
		late := early.Add(time.Hour)
		must(t, os.Chtimes(in(dir, name), late, late))
		must(t, os.Chtimes(in(dir, other), early, early))
		if left, _ := list(t, dir); len(left) != 1 || !left[0].Changed.Equal(late) {
			t.Errorf("%s is later: %+v", name, left)
		}
	}
}

// Without a folder, nameless files are in the current folder, beside a part file, or in the folder for temporary files.
func TestNamelessWithoutFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	s, err := OpenScratch(fsys.OS, "")
	must(t, err)
	must(t, s.Close())
	f, err := OpenTemp(fsys.OS, "")
	must(t, err)
	must(t, f.Close())
}
