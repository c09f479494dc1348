package fsys

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"strconv"
)

// Files are written whole or not at all: a reader sees the old content or the new one, also after a loss of power. What is
// interrupted is gone, and the old file stays until the new one is on disk.

// WriteFile gives the file at path the content data and the mode perm, whatever the umask is. It writes a
// temporary file in the same folder, which is never left behind: if anything fails, what was at path stays
// and nothing else does. If path is a symbolic link, the link is replaced, not what it points to. Files may be nil, which is OS.
func WriteFile(files FS, path string, data []byte, perm fs.FileMode) error {
	return Write(files, path, perm, whole(data))
}

// WriteHasty is WriteFile for what is not worth waiting for the disk: readers see the old content or the new one, but
// after a loss of power the file may be empty or damaged, which its reader has to notice.
func WriteHasty(files FS, path string, data []byte, perm fs.FileMode) error {
	return replace(files, path, perm, whole(data), true)
}

// Write is WriteFile for content that is made while it is written. An error of content is returned as it is, and nothing has
// changed then.
func Write(files FS, path string, perm fs.FileMode, content func(io.Writer) error) error {
	return replace(files, path, perm, content, false)
}

func whole(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// replace writes a temporary file and gives it the name.
func replace(files FS, path string, perm fs.FileMode, content func(io.Writer) error, hasty bool) error {
	d, name, err := OpenParent(Or(files), path)
	if err != nil {
		return err
	}
	defer d.Close()
	tmp, f, err := createTemp(d, name)
	if err != nil {
		return err
	}
	if err = fill(f, content, perm, hasty); err == nil {
		err = d.Rename(tmp, name)
	}
	if err != nil {
		d.Remove(tmp)
		return err
	}
	if hasty {
		return nil
	}
	return d.Sync()
}

// createTemp makes a file for the user only, of a name that is not taken.
func createTemp(d Dir, name string) (tmp string, f File, err error) {
	const attempts = 1000
	for range attempts {
		tmp = "." + name + "." + strconv.FormatUint(uint64(rand.Uint32()), 10) + ".tmp"
		if f, err = d.Create(tmp, 0o600); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return tmp, f, err
}

// fill writes and closes f. What it holds is on disk before it gets its name: a rename may reach the disk
// before the bytes do.
func fill(f File, content func(io.Writer) error, perm fs.FileMode, hasty bool) error {
	err := content(io.NewOffsetWriter(f, 0))
	if err == nil {
		err = f.Chmod(perm)
	}
	if err == nil && !hasty {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}
