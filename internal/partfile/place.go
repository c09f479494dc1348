package partfile

import (
	"errors"
	"io/fs"

	"braid/internal/fsys"
)

// A place is the final name of a file in an open folder. The names of the part file and of the journal are this name
// with an ending.
type place struct {
	folder
	name string
}

func openPlace(files fsys.FS, dir, name string) (place, error) {
	d, base, err := openFolder(files, dir, name)
	return place{d, base}, err
}

// part and journal return the names of the part file and of its journal.
func (p place) part() string    { return p.name + partEnding }
func (p place) journal() string { return p.name + journalEnding }

// partPath returns the path of the part file.
func (p place) partPath() string { return p.join(p.part()) }

// check checks that the part file's name still belongs to the open file part, and returns the file's state.
func (p place) check(part fsys.File) (fsys.Info, error) {
	info, same, err := p.isNameOf(p.part(), part)
	if err != nil || same {
		return info, err
	}
	if _, err := p.dir.Stat(p.part()); errors.Is(err, fs.ErrNotExist) {
		return info, p.gone()
	}
	return info, &NameError{p.partPath(), "was replaced by another program"}
}

// gone returns the error for a part file that has lost its name.
func (p place) gone() error {
	what := "was removed or replaced by another program while it was written"
	if _, err := p.files.Stat(p.path); notThere(err) {
		what = "was removed by another program while it was written, with its folder"
	}
	return &MovedError{Path: p.partPath(), What: what}
}

// find returns the present path of the part file, which is open as part. The path is empty, and the error a
// *MovedError, if the file was removed or cannot be found.
func (p place) find(part fsys.File) (path string, err error) {
	if _, same, err := p.isNameOf(p.part(), part); !same && err == nil {
		return "", p.gone()
	}
	err = p.checkPath(p.part())
	if moved, ok := errors.AsType[*MovedError](err); ok {
		return moved.Now, err
	}
	return p.partPath(), err
}

// rename renames the part file to its final name.
func (p place) rename(replace bool) error {
	if !replace {
		return p.renameNew(p.part(), p.name)
	}
	if _, _, err := p.target(p.name); err != nil {
		return err
	}
	return p.dir.Rename(p.part(), p.name)
}

// unlink removes the part file's name if it is a second link to the file in place. Such a link remains if a run was
// stopped within the commit, on a file system that cannot rename without replacing. h is the content of the journal.
func (p place) unlink(h history) error {
	if h.committed == nil {
		return nil
	}
	info, there, err := p.target(p.name)
	if err != nil || !there {
		return nil // placed examines the file again
	}
	part, err := p.dir.Stat(p.part())
	if err != nil || part.ID != info.ID {
		return nil
	}
	return p.remove(p.part())
}
