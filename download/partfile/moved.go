package partfile

import (
	"errors"
	"io/fs"
	"path"
	"syscall"
)

// A MovedError says that a file is not where it was put: its folder was moved or removed under way, or another program removed the
// part file.
type MovedError struct {
	Path string // where it should be
	Now  string // where it is; empty if it is gone, or that is not known
	What string // "its folder was moved or renamed meanwhile", ...
}

func (e *MovedError) Error() string { return e.Path + ": " + e.What }

// Kept is what Close has left for the next run, and where that is. It is nothing after Commit or Discard, and where the file is not
// found any more.
func (f *File) Kept() (size int64, path string) { return f.kept, f.keptAt }

// keep finds out where the part file is that is left.
func (f *File) keep() error {
	if f.temporary() {
		return nil
	}
	if same, err := f.folder.names(f.partName(), f.part); !same && err == nil {
		return f.gone()
	}
	have := f.Have()
	f.kept, f.keptAt = have.Len(), f.Path()
	err := f.folder.astray(f.partName())
	if moved, ok := errors.AsType[*MovedError](err); ok {
		if f.keptAt = moved.Now; moved.Now == "" {
			f.kept = 0
		}
	}
	return err
}

// here returns a *MovedError if there is no part file any more.
func (f *File) here() error {
	if _, err := f.folder.dir.Stat(f.partName()); errors.Is(err, fs.ErrNotExist) {
		return f.gone()
	}
	return nil
}

func (f *File) gone() error {
	what := "was removed or replaced by another program while it was written"
	if _, err := f.folder.files.Stat(f.folder.path); notThere(err) {
		what = "was removed by another program while it was written, with its folder"
	}
	return &MovedError{Path: f.Path(), What: what}
}

// astray returns a *MovedError if the path of an entry does not lead to it. The folder is open, so that it is found there wherever
// it was moved. What cannot be found out is no error.
func (d folder) astray(name string) error {
	here, err := d.dir.Stat(name)
	if err != nil {
		return nil
	}
	at, err := d.files.Stat(d.join(name))
	if err == nil && at.ID == here.ID || err != nil && !notThere(err) {
		return nil
	}
	moved := &MovedError{Path: d.join(name), What: "its folder was moved or removed meanwhile, and it is in it, wherever that is now"}
	if where := d.dir.Where(); where != "" {
		now := path.Join(where, name)
		if at, err := d.files.Stat(now); err == nil && at.ID == here.ID {
			moved.Now, moved.What = now, "its folder was moved or renamed meanwhile: it is "+now
		}
	}
	return moved
}

// notThere reports whether a path leads nowhere.
func notThere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
