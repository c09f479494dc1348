package partfile

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"braid/internal/fsys"
)

// MakeFolders makes the folders of name, which is relative to dir, as far as they are missing, and puts
// that on disk. What is there and is no
// folder, or a symbolic link to one, is a *NameError (rule 5).
func MakeFolders(files fsys.FS, dir, name string) error {
	if !fs.ValidPath(name) || name == "." {
		return &NameError{filepath.Join(dir, name), "is no name for a file"}
	}
	parents, last := "", path.Dir(name)
	if last == "." {
		return nil
	}
	for p := range strings.SplitSeq(last, "/") {
		parents = path.Join(parents, p)
		d, base, err := openFolder(files, dir, parents)
		if err != nil {
			return err
		}
		err = d.make(base)
		d.close()
		if err != nil {
			return err
		}
	}
	return nil
}

// make makes a folder, unless one of that name is there.
func (d folder) make(name string) error {
	err := fsys.Mkdir(d.dir, name, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return &NameError{d.join(name), "is not a folder, or a symbolic link to one"}
	}
	return err
}
