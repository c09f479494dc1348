package partfile

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"braid/internal/fsys"
	"braid/internal/test/fsystest"
)

// On a file system that can neither rename without replacing nor make links (FUSE, vboxsf), the file gets its name, and
// an existing file stays. A file that another program creates between the check and the rename is replaced.
func TestNoRenameNoLinks_Rule3(t *testing.T) {
	for _, refusal := range []error{syscall.EPERM, syscall.ENOSYS, syscall.EOPNOTSUPP, syscall.EINVAL, syscall.EXDEV} {
		disk := fsystest.NewDisk()
		var late func()
		looked := false
		files := noLinks(refusal, fsystest.Tap(disk, func(op fsystest.Op) error {
			if op.Name == "link to" {
				looked = true
				return refusal
			}
			if looked && op.Name == "rename to" && late != nil {
				late()
			}
			return nil
		}))
		commit := func() error {
			f, err := Open(files, "/", "x")
			must(t, err)
			must(t, f.Begin(full(t)))
			put(t, f, []byte("new"), 0)
			defer f.Discard()
			return f.Commit(proof(t, []byte("new")), Final{})
		}
		must(t, commit())
		got, err := fsys.ReadFile(disk, "/x", 100)
		if err != nil || string(got) != "new" {
			t.Errorf("%v: %q, %v", refusal, got, err)
		}
		if err := commit(); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%v, with a file there: %v", refusal, err)
		}
		must(t, fsys.Remove(disk, "/x"))
		looked, late = false, func() {
			d, _ := disk.OpenDir("/")
			d.Create("x", 0o600)
			d.Close()
		}
		must(t, commit())
	}
}

// noLinks returns a file system whose rename always replaces.
func noLinks(refusal error, files fsys.FS) fsys.FS { return replacing{files, refusal} }

type replacing struct {
	fsys.FS
	refusal error
}

func (r replacing) OpenDir(path string) (fsys.Dir, error) {
	d, err := r.FS.OpenDir(path)
	return replacingDir{d, r.refusal}, err
}

type replacingDir struct {
	fsys.Dir
	refusal error
}

func (d replacingDir) RenameNew(_, _ string) error { return d.refusal }

func (d replacingDir) Link(from string, other fsys.Dir, to string) error {
	if o, ok := other.(replacingDir); ok {
		other = o.Dir
	}
	return d.Dir.Link(from, other, to)
}
