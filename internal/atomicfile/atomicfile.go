// Package atomicfile writes files whole or not at all: state, caches, documents.
//
// Whoever reads the file sees the old content or the new one, also after a loss of power. It refuses to be
// a way to write in parts: what is interrupted is gone, and the old file stays until the new one is on disk.
//
//	err := atomicfile.WriteFile(path, data, 0o600)
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// WriteFile gives the file at path the content data and the mode perm, whatever the umask is. It writes a
// temporary file in the same folder, which it leaves to nobody: if anything fails, what was at path stays
// and nothing else does. If path is a symbolic link, the link is replaced, not what it points to.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	return Write(path, perm, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Write is WriteFile for content that is made while it is written. An error of content is returned as it is, and nothing has
// changed then.
func Write(path string, perm fs.FileMode, content func(io.Writer) error) error {
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	tmp, err := os.CreateTemp(dir, "."+name+".*.tmp") // O_EXCL, 0600
	if err != nil {
		return err
	}
	if err := fill(tmp, content, perm); err != nil {
		os.Remove(tmp.Name())
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		os.Remove(tmp.Name())
		return err
	}
	return syncFolder(dir)
}

// fill writes and closes f. What it holds is on disk before it gets its name: a rename may reach the disk
// before the bytes do.
func fill(f *os.File, content func(io.Writer) error, perm fs.FileMode) error {
	err := content(f)
	if err == nil {
		err = f.Chmod(perm)
	}
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}

// syncFolder puts on disk which names the folder has. File systems that cannot are left alone.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
