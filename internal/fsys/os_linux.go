package fsys

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func (osFS) OpenTemp(dir string) (File, error) {
	fd, err := openat(unix.AT_FDCWD, dir, unix.O_TMPFILE|unix.O_RDWR, 0o600)
	switch err {
	case nil:
		return osFile{os.NewFile(uintptr(fd), filepath.Join(dir, "(temporary file)"))}, nil
	case unix.EOPNOTSUPP, unix.EISDIR:
		return openUnlinked(dir)
	}
	return nil, &fs.PathError{Op: "open a temporary file in", Path: dir, Err: err}
}

// RenameNew returns errors.ErrUnsupported on file systems without support for flags (EINVAL) and on kernels without the
// system call (ENOSYS).
func (d osDir) RenameNew(from, to string) error {
	return d.do("rename to", to, func(dir int) error {
		err := unix.Renameat2(dir, from, dir, to, unix.RENAME_NOREPLACE)
		if err == unix.EINVAL || err == unix.ENOSYS {
			return errors.ErrUnsupported
		}
		return err
	})
}

// Where reads the descriptor's link in proc(5). If the folder was removed, the text of the link is not a valid path.
func (d osDir) Where() (where string) {
	d.do("find", "", func(fd int) (err error) {
		where, err = os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
		return err
	})
	return where
}

func (f osFile) Reserve(size int64) error {
	return f.allocate("preallocate", unix.FALLOC_FL_KEEP_SIZE, 0, size)
}

func (f osFile) Release(off, n int64) error {
	return f.allocate("release", unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n)
}

func (f osFile) allocate(op string, mode uint32, off, n int64) error {
	err := f.control(op, func(fd int) error { return unix.Fallocate(fd, mode, off, n) })
	if errors.Is(err, errors.ErrUnsupported) { // EOPNOTSUPP, ENOSYS
		return nil
	}
	return err
}

func (f osFile) Free() (int64, error) {
	var st unix.Statfs_t
	if err := f.control("statfs", func(fd int) error { return unix.Fstatfs(fd, &st) }); err != nil {
		return 0, err
	}
	if st.Blocks == 0 {
		return -1, nil
	}
	return roomOf(st.Bavail, int64(st.Frsize)), nil
}

func (f osFile) Datasync() error { return f.control("fdatasync", unix.Fdatasync) }

// SyncAll syncs the file system of the folder at path. For many small files that is faster than a Sync of each file.
func SyncAll(path string) error {
	fd, err := openat(unix.AT_FDCWD, path, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err == nil {
		defer unix.Close(fd)
		err = again(func() error { return unix.Syncfs(fd) })
	}
	if err != nil {
		return &fs.PathError{Op: "sync the file system of", Path: path, Err: err}
	}
	return nil
}

// InfoOf returns the part of Info that package os provides: ID, number of names, size and times. Values that the system
// does not provide are zero.
func InfoOf(info fs.FileInfo) Info {
	known := Info{Size: info.Size(), ModTime: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		known.ID, known.Links, known.Changed = ID{uint64(st.Dev), st.Ino}, uint64(st.Nlink), time.Unix(st.Ctim.Unix())
	}
	return known
}
