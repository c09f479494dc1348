package fsys

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// Changes of the entries of a folder take effect, and failures are errors that name the operation.
func TestEntries(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"b", "a"} {
		must(t, os.WriteFile(at(name), []byte("abc"), 0o600))
	}
	d, err := OS.OpenDir(dir)
	must(t, err)
	defer d.Close()
	if names, err := d.Names(); err != nil || !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("%q, %v", names, err)
	}
	date := time.Unix(1e9, 0)
	must(t, d.SetTime("a", date))
	if info, err := Lstat(OS, at("a")); err != nil || !info.ModTime.Equal(date) || info.Size != 3 {
		t.Errorf("%+v, %v", info, err)
	}
	if err := d.SetTime("missing", date); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	must(t, d.Sync())
	must(t, Remove(OS, at("a")))
	if _, err := Lstat(OS, at("a")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Lstat(OS, at("none/a")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := Remove(OS, at("none/a")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	must(t, SyncAll(dir))
	if err := SyncAll(at("none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// An existing folder is no error, and any other entry of that name is one.
func TestMkdir(t *testing.T) {
	dir := t.TempDir()
	d, err := OS.OpenDir(dir)
	must(t, err)
	defer d.Close()
	must(t, Mkdir(d, "new", 0o777))
	must(t, Mkdir(d, "new", 0o777))
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	if err := Mkdir(d, "file", 0o777); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if err := Mkdir(d, "none/new", 0o777); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if info, err := os.Lstat(filepath.Join(dir, "new")); err != nil || !info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
}

// The available space comes from the file system, and is limited to the largest number.
func TestRoom(t *testing.T) {
	own, err := os.Create(filepath.Join(t.TempDir(), "f"))
	must(t, err)
	defer own.Close()
	f := osFile{own}
	if free, err := f.Free(); err != nil || free <= 0 {
		t.Errorf("%d, %v", free, err)
	}
	for _, tt := range []struct {
		blocks uint64
		size   int64
		want   int64
	}{{10, 512, 5120}, {0, 512, 0}, {math.MaxUint64, 512, math.MaxInt64}, {math.MaxInt64/4096 + 1, 4096, math.MaxInt64}} {
		if got := roomOf(tt.blocks, tt.size); got != tt.want {
			t.Errorf("%d of %d: %d, want %d", tt.blocks, tt.size, got, tt.want)
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	must(t, err)
	defer null.Close()
	if err := (osFile{null}).Reserve(10); err != nil && !errors.Is(err, syscall.ENODEV) {
		t.Errorf("a device: %v", err)
	}
	must(t, own.Close())
	if err := f.Reserve(10); err == nil {
		t.Error("room was taken for a closed file")
	}
}
