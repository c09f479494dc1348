package fsys

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A file system without O_TMPFILE gets a file that has a name for a moment.
func TestOpenUnlinked(t *testing.T) {
	dir := t.TempDir()
	f, err := openUnlinked(dir)
	must(t, err)
	defer f.Close()
	_, err = f.WriteAt([]byte("abc"), 0)
	must(t, err)
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if info, err := f.Info(); err != nil || info.Size != 3 || info.Links != 0 {
		t.Errorf("%+v, %v", info, err)
	}
}

// A Dir follows no symbolic link, and opening a FIFO does not block (rules 1 and 5).
func TestNothingIsFollowed_Rule5(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	must(t, os.Symlink("folder", filepath.Join(dir, "link")))
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	must(t, os.Symlink("file", filepath.Join(dir, "filelink")))
	must(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	d, err := OS.OpenDir(dir)
	must(t, err)
	defer d.Close()
	if _, err := d.OpenDir("link"); !errors.Is(err, unix.ENOTDIR) && !errors.Is(err, unix.ELOOP) {
		t.Errorf("a link to a folder: %v", err)
	}
	if _, err := d.Open("filelink"); !errors.Is(err, unix.ELOOP) {
		t.Errorf("a link to a file: %v", err)
	}
	for name, want := range map[string]fs.FileMode{"filelink": fs.ModeSymlink, "fifo": fs.ModeNamedPipe,
		"folder": fs.ModeDir, "file": 0} {
		if info, err := d.Stat(name); err != nil || info.Mode.Type() != want {
			t.Errorf("%s: %v, %v", name, info.Mode, err)
		}
	}
	f, err := d.Open("fifo")
	must(t, err)
	f.Close()
	f, err = OS.Open(filepath.Join(dir, "fifo")) // without a writer
	must(t, err)
	f.Close()
	f, err = OS.Open(filepath.Join(dir, "filelink")) // links in the user's own path are followed
	must(t, err)
	f.Close()
}

// Errors contain the operation and the file.
func TestErrorsNameTheFile(t *testing.T) {
	dir := t.TempDir()
	d, err := OS.OpenDir(dir)
	must(t, err)
	defer d.Close()
	_, create := d.Create("none/x", 0o600)
	_, open := d.Open("none")
	_, stat := d.Stat("none")
	_, path := OS.Stat(filepath.Join(dir, "none"))
	for _, err := range []error{create, open, stat, path, d.Remove("none"), d.Rename("a", "none"),
		d.RenameNew("a", "none"), d.Link("a", d, "none")} {
		if e, ok := errors.AsType[*fs.PathError](err); !ok || e.Op == "" ||
			filepath.Dir(e.Path) != dir && e.Path != filepath.Join(dir, "none/x") {
			t.Errorf("%v", err)
		}
	}
}

// The methods that are called for each byte of a download do not allocate.
func TestNoAllocations(t *testing.T) {
	d, err := OS.OpenDir(t.TempDir())
	must(t, err)
	defer d.Close()
	f, err := d.Create("x", 0o600)
	must(t, err)
	defer f.Close()
	p := make([]byte, 4096)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := f.WriteAt(p, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := f.ReadAt(p, 0); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations for a write and a read", n)
	}
}
