package fsys

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"syscall"
)

// Or returns files, or OS if files is nil.
func Or(files FS) FS {
	if files == nil {
		return OS
	}
	return files
}

type contextKey struct{}

// With returns a context in which Of returns files, for tests.
func With(ctx context.Context, files FS) context.Context {
	return context.WithValue(ctx, contextKey{}, Or(files))
}

// Of returns the file system that With stored in ctx, or OS.
func Of(ctx context.Context) FS {
	files, _ := ctx.Value(contextKey{}).(FS)
	return Or(files)
}

// OpenParent opens the folder of the file at path, and returns the file's name in it.
func OpenParent(files FS, path string) (d Dir, name string, err error) {
	dir, name := filepath.Split(filepath.Clean(path))
	if dir == "" {
		dir = "."
	}
	d, err = files.OpenDir(dir)
	return d, name, err
}

// Lstat returns the state of the file at path. It does not follow a symbolic link at path.
func Lstat(files FS, path string) (Info, error) {
	d, name, err := OpenParent(files, path)
	if err != nil {
		return Info{}, err
	}
	defer d.Close()
	return d.Stat(name)
}

// Remove removes the file at path.
func Remove(files FS, path string) error {
	d, name, err := OpenParent(files, path)
	if err != nil {
		return err
	}
	return errors.Join(d.Remove(name), d.Close())
}

// ReadFile reads at most most bytes of the file at path.
func ReadFile(files FS, path string, most int64) ([]byte, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, 0, most))
}

// Reader returns a reader that begins at the start of f.
func Reader(f File) io.Reader { return io.NewSectionReader(f, 0, math.MaxInt64) }

// MkdirAll creates the folder at path and its missing parents. It syncs each new entry, because a file is lost if a
// folder on its path is lost.
func MkdirAll(files FS, path string, perm fs.FileMode) error {
	path = filepath.Clean(path)
	info, err := files.Stat(path)
	switch {
	case err == nil && info.Mode.IsDir():
		return nil
	case err == nil:
		return &fs.PathError{Op: "make folder", Path: path, Err: syscall.ENOTDIR}
	case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(path) == path:
		return err
	}
	if err := MkdirAll(files, filepath.Dir(path), perm); err != nil {
		return err
	}
	d, name, err := OpenParent(files, path)
	if err != nil {
		return err
	}
	defer d.Close()
	return Mkdir(d, name, perm)
}

// Mkdir creates a folder and syncs its parent. It is no error if the folder exists, even if another program creates it
// at the same time.
func Mkdir(d Dir, name string, perm fs.FileMode) error {
	err := d.Mkdir(name, perm)
	if err == nil {
		return d.Sync()
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, stat := d.Stat(name); stat != nil || !info.Mode.IsDir() {
		return errors.Join(err, stat)
	}
	return nil
}
