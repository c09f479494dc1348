package apt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"braid/internal/fsys"
)

// plain is an error unless the file's name is free or of a plain file. A link leads elsewhere.
func (x *item) plain() (size int64, err error) {
	info, err := os.Lstat(x.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%s is no plain file", x.file)
	}
	return info.Size(), nil
}

// free removes what is at the names of the part file and can be none of ours: a link, a file with a second name, and
// what is left of a run as another user, as apt has some downloads run as root.
func (x *item) free() error {
	dir, err := fsys.OS.OpenDir(filepath.Dir(x.file))
	if err != nil {
		return err
	}
	defer dir.Close()
	for _, ending := range []string{".part", ".part.journal"} {
		name := filepath.Base(x.file) + ending
		info, err := dir.Stat(name)
		if err != nil || info.Mode.IsRegular() && info.UID == os.Geteuid() && info.Links == 1 {
			continue // an error is of what opens it
		}
		if err := dir.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// create makes a new file in place of what has its name, and writes through no link.
func create(name string) (*os.File, error) {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}
