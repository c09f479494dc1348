package partfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"braid/internal/fsys"
	"braid/internal/test/fsystest"
)

// Power is lost after each change of a download that restarts, because the file has changed or its bytes are set aside.
// The bytes that the journal marks as done belong to the version that it names.
func TestPowerLossOfRestart_Rule8_Rule34(t *testing.T) {
	t.Parallel()
	versions := map[string][]byte{"https://a.example/1": content(9000), "https://a.example/2": reversed(content(9000))}
	for name, anew := range map[string]func(f *File) error{
		"restart": (*File).Restart,
		"reset":   func(f *File) error { return f.Reset("wrong") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk := fsystest.NewDisk()
			must(t, fsys.MkdirAll(disk, "/d", 0o777))
			disk.Settle()
			f, err := Open(disk, "/d", "x")
			must(t, err)
			begin := func(url string, ends ...int) {
				must(t, f.Begin(Identity{URL: url, Size: 9000}))
				at := 0
				for _, end := range ends {
					_, err := f.WriteAt(versions[url][at:end], int64(at))
					must(t, errors.Join(err, f.Flush()))
					at = end
				}
			}
			begin("https://a.example/1", 700, 2500, 6000)
			must(t, f.Sync())
			must(t, anew(f))
			begin("https://a.example/2", 900, 2000, 5000)
			must(t, f.Sync())
			for n := range disk.Changes() + 1 {
				for _, fate := range fsystest.Fates(uint64(n)<<8, 8) {
					if err := marksTrue(t, disk.Crash(n, fate), versions); err != nil {
						t.Errorf("after %d of %d changes, %v: %v", n, disk.Changes(), fate, err)
					}
				}
			}
		})
	}
}

// marksTrue compares the bytes marked as done with the version that the journal names.
func marksTrue(t *testing.T, disk *fsystest.Disk, versions map[string][]byte) error {
	f, err := Open(disk, "/d", "x")
	if err != nil {
		return err
	}
	defer f.Close()
	id, ok := f.Prior()
	if !ok {
		return nil
	}
	if err := f.Recover(t.Context()); err != nil {
		return err
	}
	have := f.Have()
	s := story{t: t, want: versions[id.URL]}
	if err := s.holds(f, &have); err != nil {
		return fmt.Errorf("%s: %w", id.URL, err)
	}
	return nil
}

func reversed(b []byte) []byte {
	r := make([]byte, len(b))
	for i, c := range b {
		r[len(b)-1-i] = c ^ 0x55
	}
	return r
}

// A missing file counts as removed, and a failure to remove is reported.
func TestFolderRemoves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "full", "x"), 0o777))
	d, _, err := openFolder(fsys.OS, dir, "x")
	must(t, err)
	defer d.close()
	must(t, d.remove("absent"))
	if err := d.remove("full"); err == nil {
		t.Error("a folder with something in it was removed")
	}
}
