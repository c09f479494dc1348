package fsys

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
)

// counted counts open folders and syncs.
type counted struct {
	FS
	opened, open, syncs int
	sync                func(n int) error // called for sync number n
}

type countedDir struct {
	Dir
	of *counted
}

func (c *counted) count(d Dir, err error) (Dir, error) {
	if err != nil {
		return nil, err
	}
	c.opened++
	c.open++
	return countedDir{d, c}, nil
}

func (c *counted) OpenDir(name string) (Dir, error)   { return c.count(c.FS.OpenDir(name)) }
func (d countedDir) OpenDir(name string) (Dir, error) { return d.of.count(d.Dir.OpenDir(name)) }

func (d countedDir) Sync() error {
	d.of.syncs++
	return d.of.sync(d.of.syncs)
}

func (d countedDir) Close() error {
	d.of.open--
	return d.Dir.Close()
}

// A folder is opened once for all uses at the same time, also as a subfolder, and closed after the last use.
func TestSharedOpen(t *testing.T) {
	parent := t.TempDir()
	must(t, os.Mkdir(filepath.Join(parent, "sub"), 0o755))
	c := &counted{FS: OS}
	files := Shared(c)
	use := func(opened, open int) {
		t.Helper()
		if c.opened != opened || c.open != open {
			t.Errorf("%d were opened, and %d are open, want %d and %d", c.opened, c.open, opened, open)
		}
	}
	for round := range 2 {
		a, err := files.OpenDir(parent)
		must(t, err)
		b, err := files.OpenDir(parent)
		must(t, err)
		use(2*round+1, 1)
		s1, err := a.OpenDir("sub")
		must(t, err)
		s2, err := b.OpenDir("sub")
		must(t, err)
		s3, err := files.OpenDir(filepath.Join(parent, "sub"))
		must(t, err)
		use(2*round+2, 2)
		must(t, a.Close())
		if err := a.Close(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("closed twice: %v", err)
		}
		if _, err := b.Stat("sub"); err != nil {
			t.Errorf("closed for another user: %v", err)
		}
		must(t, errors.Join(b.Close(), s1.Close(), s2.Close(), s3.Close()))
		use(2*round+2, 0)
	}
	if _, err := files.OpenDir(filepath.Join(parent, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// OpenDir of a path that leads to another folder by now does not return the open one. A symbolic link is not opened as
// a folder.
func TestSharedReplaced(t *testing.T) {
	parent := t.TempDir()
	at := func(name string) string { return filepath.Join(parent, name) }
	must(t, os.Mkdir(at("x"), 0o755))
	files := Shared(OS)
	before, err := files.OpenDir(at("x"))
	must(t, err)
	defer before.Close()
	must(t, os.Rename(at("x"), at("y")))
	must(t, os.Mkdir(at("x"), 0o755))
	must(t, os.WriteFile(at("x/new"), nil, 0o600))
	now, err := files.OpenDir(at("x"))
	must(t, err)
	defer now.Close()
	if _, err := now.Stat("new"); err != nil {
		t.Error(err)
	}
	if _, err := before.Stat("new"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	must(t, os.Symlink("x", at("link")))
	d, err := files.OpenDir(parent)
	must(t, err)
	defer d.Close()
	if sub, err := d.OpenDir("link"); err == nil {
		sub.Close()
		t.Error("a symbolic link was followed")
	}
	must(t, os.WriteFile(at("y/file"), nil, 0o600))
	must(t, before.Link("file", now, "second"))
	if _, err := os.Stat(at("x/second")); err != nil {
		t.Error(err)
	}
}

// A Sync that begins during another one does not end with it. It shares the next one with all others that wait.
func TestSharedSync(t *testing.T) {
	parent := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		first, second := make(chan struct{}), errors.New("of the second")
		c := &counted{FS: OS, sync: func(n int) error {
			if n == 1 {
				<-first
				return nil
			}
			return second
		}}
		files := Shared(c)
		var wg sync.WaitGroup
		sync := func(want error) {
			d, err := files.OpenDir(parent)
			must(t, err)
			wg.Go(func() {
				defer d.Close()
				if err := d.Sync(); err != want {
					t.Errorf("%v, want %v", err, want)
				}
			})
			synctest.Wait()
		}
		sync(nil)
		for range 3 {
			sync(second)
		}
		if c.syncs != 1 {
			t.Errorf("%d at once", c.syncs)
		}
		close(first)
		wg.Wait()
		if c.syncs != 2 || c.open != 0 {
			t.Errorf("%d syncs for one and three that waited, %d folders are open", c.syncs, c.open)
		}
	})
}
