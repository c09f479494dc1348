package fsys

import (
	"errors"
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func (osFS) OpenTemp(dir string) (File, error) { return openUnlinked(dir) }

// RenameNew: not every file system can (ENOTSUP), see renameatx_np(2).
func (d osDir) RenameNew(from, to string) error {
	return d.do("rename to", to, func(dir int) error {
		err := unix.RenameatxNp(dir, from, dir, to, unix.RENAME_EXCL)
		if err == unix.ENOTSUP || err == unix.EINVAL {
			return errors.ErrUnsupported
		}
		return err
	})
}

// Where: package unix has no F_GETPATH.
func (d osDir) Where() string { return "" }

// Reserve leaves it to the file system: what fcntl(2) offers changes where a file may grow, and gives no room back.
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

// Datasync: fsync(2) leaves the bytes in the cache of the drive here, and Sync asks it to write them, too (F_FULLFSYNC).
func (f osFile) Datasync() error { return f.Sync() }

// SyncAll has what was written to all file systems put on disk. The system need not have done it when that returns.
func SyncAll(string) error { return unix.Sync() }

// InfoOf returns what package os knows of a file: which one it is, how many names it has, its size and its times. What
// the system does not say is zero.
func InfoOf(info fs.FileInfo) Info {
	known := Info{Size: info.Size(), ModTime: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		known.ID, known.Links, known.Changed = ID{uint64(st.Dev), st.Ino}, uint64(st.Nlink), time.Unix(st.Ctimespec.Unix())
	}
	return known
}
