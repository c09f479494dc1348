package apt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"braid/internal/fsys"
)

// plain returns the size of the existing file, or 0 without a file. It returns an error if x.file is not a regular
// file, because writing through a link would change another file.
func (x *item) plain() (size int64, err error) {
	info, err := os.Lstat(x.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%s is not a regular file", x.file)
	}
	return info.Size(), nil
}

// free removes the partial file and its journal if this process cannot have written them: a link, a file with a second
// name, or a file of another user, because apt runs some downloads as root.
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
			continue // opening the file reports an error
		}
		if err := dir.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// create creates a new file. It removes an existing file first, so that it does not write through a link.
func create(name string) (*os.File, error) {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}
