package fsys

import (
	"errors"
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func (osFS) OpenTemp(dir string) (File, error) { return openUnlinked(dir) }

// RenameNew returns errors.ErrUnsupported on file systems that return ENOTSUP; see renameatx_np(2).
func (d osDir) RenameNew(from, to string) error {
	return d.do("rename to", to, func(dir int) error {
		err := unix.RenameatxNp(dir, from, dir, to, unix.RENAME_EXCL)
		if err == unix.ENOTSUP || err == unix.EINVAL {
			return errors.ErrUnsupported
		}
		return err
	})
}

// Where returns an empty path: package unix does not support F_GETPATH.
func (d osDir) Where() string { return "" }

// Reserve does nothing: a reservation by fcntl(2) changes where a file can grow, and cannot be undone.
func (f osFile) Reserve(int64) error { return nil }

func (f osFile) Release(_, _ int64) error { return nil }

func (f osFile) Free() (int64, error) {
	var st unix.Statfs_t
	if err := f.control("statfs", func(fd int) error { return unix.Fstatfs(fd, &st) }); err != nil {
		return 0, err
	}
	if st.Blocks == 0 {
		return -1, nil
	}
	return roomOf(st.Bavail, int64(st.Bsize)), nil
}

// Datasync calls Sync: on this system fsync(2) leaves the bytes in the cache of the drive, and Sync uses F_FULLFSYNC.
func (f osFile) Datasync() error { return f.Sync() }

// SyncAll syncs all file systems. The system may return before the writes are done.
func SyncAll(string) error { return unix.Sync() }

// InfoOf returns the part of Info that package os provides: ID, number of names, size and times. Values that the system
// does not provide are zero.
func InfoOf(info fs.FileInfo) Info {
	known := Info{Size: info.Size(), ModTime: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		known.ID, known.Links, known.Changed = ID{uint64(st.Dev), st.Ino}, uint64(st.Nlink), time.Unix(st.Ctimespec.Unix())
	}
	return known
}
