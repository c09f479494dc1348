package partfile

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"braid/internal/fsys"
	"braid/internal/test/fsystest"
)

// Concurrent processes create one key, which only the user can read.
func TestKeyIsOne_Rule62(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "braid", "key")
	seals := make([]string, 8)
	var all sync.WaitGroup
	for i := range seals {
		all.Go(func() { // each as another process would
			k := OpenKey(fsys.OS, path)
			if err := k.Make(); err != nil {
				t.Error(err)
			}
			seals[i] = string(k.sealed("x", []byte(`{"a":1}`)))
		})
	}
	all.Wait()
	for _, s := range seals {
		if s != seals[0] || len(s) < 64 {
			t.Errorf("%q and %q", s, seals[0])
		}
	}
	if m := mode(t, path); m.Perm() != 0o600 {
		t.Error(m)
	}
	wantFiles(t, filepath.Dir(path), "key")
}

// A file that cannot be a key is not used. That is no error: journals then have no seal.
func TestNoKey_Rule8(t *testing.T) {
	dir := t.TempDir()
	write(t, in(dir, "file"), nil)
	good := OpenKey(fsys.OS, in(dir, "good"))
	must(t, good.Make())
	text := read(t, in(dir, "good"))
	must(t, os.WriteFile(in(dir, "open"), text, 0o644))
	must(t, os.WriteFile(in(dir, "short"), text[:40], 0o600))
	must(t, os.Symlink("good", in(dir, "link")))
	must(t, os.Mkdir(in(dir, "folder"), 0o700))
	for _, path := range []string{"file/key", "open", "short", "link", "folder"} {
		k := OpenKey(fsys.OS, in(dir, path))
		if err := k.Make(); err == nil {
			t.Errorf("%s is taken for a key", path)
		}
		if p := k.sealed("x", []byte(`{"a":1}`)); string(p) != `{"a":1}` {
			t.Errorf("%s: %s", path, p)
		}
	}
	if err := (*Key)(nil).Make(); err != nil {
		t.Error(err)
	}
}

// A read-only folder has a key or none, and a key that cannot be created leaves no file behind.
func TestKeyOnABadDisk_Rule8(t *testing.T) {
	for n := 1; ; n++ {
		disk := fsystest.NewDisk()
		left, failed := n, false
		k := OpenKey(fsystest.Tap(disk, func(fsystest.Op) error {
			if left--; left == 0 {
				failed = true
				return os.ErrPermission
			}
			return nil
		}), "/s/key")
		err := k.Make()
		if !failed {
			must(t, err)
			return
		}
		if again := OpenKey(disk, "/s/key"); again.Make() != nil || len(again.sealed("x", []byte(`{"a":1}`))) < 64 {
			t.Errorf("when operation %d fails (%v) there is never a key", n, err)
		}
	}
}

// A seal covers one name and all bytes before it.
func TestSeal_Rule8(t *testing.T) {
	dir := t.TempDir()
	k, other := OpenKey(fsys.OS, in(dir, "k")), OpenKey(fsys.OS, in(dir, "other"))
	must(t, k.Make())
	must(t, other.Make())
	p := k.sealed("x", []byte(`{"URL":"u","Size":1}`))
	if !k.fits("x", p) {
		t.Fatalf("%s does not fit", p)
	}
	if k.fits("y", p) || other.fits("x", p) || (*Key)(nil).fits("x", p) {
		t.Error("it fits another name or key")
	}
	for i := range p {
		bad := append([]byte{}, p...)
		bad[i] ^= 1
		if k.fits("x", bad) {
			t.Errorf("%s fits", bad)
		}
		if k.fits("x", p[:i]) || k.fits("x", p[i+1:]) {
			t.Errorf("a part of it fits")
		}
	}
	if twice := k.sealed("x", p); !k.fits("x", twice) || k.fits("x", append(twice[:len(twice)-1], `,"Size":2}`...)) {
		t.Error("what is added to it is taken")
	}
}
