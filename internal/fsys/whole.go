package fsys

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"strconv"
)

// The functions below replace a file as a whole: a reader sees either the old or the new content, even after a loss of
// power. The old file stays until the new file is on disk. A write that fails removes its temporary file.

// WriteFile replaces the content of the file at path by data, and sets its mode to perm regardless of the umask. It
// writes a temporary file in the same folder and renames it. After an error the file at path is unchanged and the
// temporary file is removed. If path is a symbolic link, the link is replaced, not its target. If files is nil, OS is
// used.
func WriteFile(files FS, path string, data []byte, perm fs.FileMode) error {
	return Write(files, path, perm, whole(data))
}

// WriteHasty is WriteFile without syncing, for content that is not worth the wait. Readers still see the old or the new
// content, but after a loss of power the file may be empty or damaged, which its reader must detect.
func WriteHasty(files FS, path string, data []byte, perm fs.FileMode) error {
	return replace(files, path, perm, whole(data), true)
}

// Write is WriteFile for content that is generated while it is written. It returns an error of content unchanged. The
// file at path then stays unchanged, too.
func Write(files FS, path string, perm fs.FileMode, content func(io.Writer) error) error {
	return replace(files, path, perm, content, false)
}

func whole(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// replace writes a temporary file and renames it to the final name.
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

// createTemp creates a file with a new name that only the user can read.
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

// fill writes and closes f. It syncs f before the rename, because the rename may reach the disk before the content.
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
