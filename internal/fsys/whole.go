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
// temporary file in the same folder, which it leaves to nobody: if anything fails, what was at path stays
// and nothing else does. If path is a symbolic link, the link is replaced, not what it points to.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	return In(OS).WriteFile(path, data, perm)
}

// Write is WriteFile for content that is made while it is written. An error of content is returned as it is, and nothing has
// changed then.
func Write(path string, perm fs.FileMode, content func(io.Writer) error) error {
	return In(OS).Write(path, perm, content)
}

// A Place is a file system that files are written to.
type Place struct {
	files FS
	hasty bool
}

// In is the place that files stands for, or that of the system if it is nil.
func In(files FS) Place { return Place{files: Or(files)} }

// Hasty is p for files that are not worth waiting for the disk: readers see the old content or the new one, but after a loss of
// power the file may be empty or damaged, which its reader has to notice.
func (p Place) Hasty() Place { return Place{p.files, true} }

// WriteFile is the function of that name, for a file of p.
func (p Place) WriteFile(path string, data []byte, perm fs.FileMode) error {
	return p.Write(path, perm, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Write is the function of that name, for a file of p.
func (p Place) Write(path string, perm fs.FileMode, content func(io.Writer) error) error {
	d, name, err := OpenParent(p.files, path)
	if err != nil {
		return err
	}
	defer d.Close()
	return p.replace(d, name, perm, content)
}

// replace writes a temporary file and gives it the name.
func (p Place) replace(d Dir, name string, perm fs.FileMode, content func(io.Writer) error) error {
	tmp, f, err := createTemp(d, name)
	if err != nil {
		return err
	}
	if err = p.fill(f, content, perm); err == nil {
		err = d.Rename(tmp, name)
	}
	if err != nil {
		d.Remove(tmp)
		return err
	}
	if p.hasty {
		return nil
	}
	return d.Sync()
}

// createTemp makes a file for the user only, of a name that nobody has.
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
func (p Place) fill(f File, content func(io.Writer) error, perm fs.FileMode) error {
	err := content(io.NewOffsetWriter(f, 0))
	if err == nil {
		err = f.Chmod(perm)
	}
	if err == nil && !p.hasty {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}
