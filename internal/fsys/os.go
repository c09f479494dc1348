package fsys

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// OS is the file system of the system.
var OS FS = osFS{}

type osFS struct{}

func (osFS) OpenDir(dir string) (Dir, error) {
	fd, err := openat(unix.AT_FDCWD, dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	return osDir{os.NewFile(uintptr(fd), dir)}, nil // other than os.Open this does not offer it to the poller, which wants no folders
}

func (osFS) Open(name string) (File, error) {
	fd, err := openat(unix.AT_FDCWD, name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return blocking(fd, name)
}

func (osFS) Stat(name string) (Info, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Stat(name, &st) }); err != nil {
		return Info{}, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return infoOf(&st), nil
}

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

// openUnlinked is for file systems without O_TMPFILE, such as NFS.
func openUnlinked(dir string) (File, error) {
	f, err := os.CreateTemp(dir, ".braid-*.tmp")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return osFile{f}, nil
}

// openat opens what no child process inherits.
func openat(dir int, name string, flags int, perm uint32) (fd int, err error) {
	err = again(func() error {
		fd, err = unix.Openat(dir, name, flags|unix.O_CLOEXEC, perm)
		return err
	})
	return fd, err
}

// again calls fn until no signal interrupts it.
func again(fn func() error) error {
	for {
		if err := fn(); err != unix.EINTR {
			return err
		}
	}
}

// blocking makes a file of a descriptor that was opened without waiting.
func blocking(fd int, name string) (File, error) {
	if err := unix.SetNonblock(fd, false); err != nil {
		unix.Close(fd)
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return osFile{os.NewFile(uintptr(fd), name)}, nil
}

// control calls fn with the descriptor of f until no signal interrupts it. An error says op and name.
func control(f *os.File, op, name string, fn func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err == nil {
		var failed error
		err = raw.Control(func(fd uintptr) {
			failed = again(func() error { return fn(int(fd)) })
		})
		if err == nil {
			err = failed
		}
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

// An osDir is a folder of the system.
type osDir struct{ f *os.File }

// do calls fn with the descriptor of the folder. An error says op and the entry.
func (d osDir) do(op, name string, fn func(fd int) error) error {
	return control(d.f, op, path.Join(d.f.Name(), name), fn)
}

// open opens an entry and never what a symbolic link of that name stands for.
func (d osDir) open(name string, flags int, perm uint32) (fd int, err error) {
	err = d.do("open", name, func(dir int) error {
		fd, err = unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, perm)
		return err
	})
	return fd, err
}

func (d osDir) OpenDir(name string) (Dir, error) {
	fd, err := d.open(name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return osDir{os.NewFile(uintptr(fd), path.Join(d.f.Name(), name))}, nil
}

func (d osDir) Create(name string, perm fs.FileMode) (File, error) {
	fd, err := d.open(name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, uint32(perm.Perm()))
	if err != nil {
		return nil, err
	}
	return osFile{os.NewFile(uintptr(fd), path.Join(d.f.Name(), name))}, nil
}

// Open does not wait for the other end of a FIFO. Files do not care.
func (d osDir) Open(name string) (File, error) {
	fd, err := d.open(name, unix.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return blocking(fd, path.Join(d.f.Name(), name))
}

func (d osDir) Mkdir(name string, perm fs.FileMode) error {
	return d.do("make folder", name, func(dir int) error { return unix.Mkdirat(dir, name, uint32(perm.Perm())) })
}

func (d osDir) Stat(name string) (Info, error) {
	var st unix.Stat_t
	err := d.do("stat", name, func(dir int) error { return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return Info{}, err
	}
	return infoOf(&st), nil
}

func (d osDir) SetTime(name string, t time.Time) error {
	return d.do("set the time of", name, func(dir int) error {
		ts, err := unix.TimeToTimespec(t)
		if err != nil {
			return err
		}
		return unix.UtimesNanoAt(dir, name, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
	})
}

func (d osDir) Remove(name string) error {
	return d.do("remove", name, func(dir int) error { return unix.Unlinkat(dir, name, 0) })
}

func (d osDir) Rename(from, to string) error {
	return d.do("rename to", to, func(dir int) error { return unix.Renameat(dir, from, dir, to) })
}

// RenameNew: some file systems know no flags (EINVAL), some kernels no such call (ENOSYS).
func (d osDir) RenameNew(from, to string) error {
	return d.do("rename to", to, func(dir int) error {
		err := unix.Renameat2(dir, from, dir, to, unix.RENAME_NOREPLACE)
		if err == unix.EINVAL || err == unix.ENOSYS {
			return errors.ErrUnsupported
		}
		return err
	})
}

func (d osDir) Link(from string, dir Dir, to string) error {
	other, ok := dir.(osDir)
	if !ok {
		return &fs.PathError{Op: "link to", Path: to, Err: unix.EXDEV}
	}
	return d.do("link from", from, func(here int) error {
		return other.do("link to", to, func(there int) error { return unix.Linkat(here, from, there, to, 0) })
	})
}

// Names reads them from a descriptor of its own: that of the folder remembers how far it was read.
func (d osDir) Names() ([]string, error) {
	var names []string
	err := d.do("read", "", func(dir int) error {
		fd, err := openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			return err
		}
		f := os.NewFile(uintptr(fd), d.f.Name())
		defer f.Close()
		names, err = f.Readdirnames(-1)
		return err
	})
	slices.Sort(names)
	return names, err
}

func (d osDir) Sync() error {
	err := d.f.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

func (d osDir) Close() error { return d.f.Close() }

// An osFile is a file of the system.
type osFile struct{ *os.File }

func (f osFile) control(op string, fn func(fd int) error) error {
	return control(f.File, op, f.Name(), fn)
}

func (f osFile) Info() (Info, error) {
	var st unix.Stat_t
	if err := f.control("stat", func(fd int) error { return unix.Fstat(fd, &st) }); err != nil {
		return Info{}, err
	}
	return infoOf(&st), nil
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
	if free := st.Bavail; free < uint64(math.MaxInt64/max(st.Frsize, 1)) {
		return int64(free) * st.Frsize, nil
	}
	return math.MaxInt64, nil
}

func (f osFile) TryLock() (bool, error) {
	err := f.control("lock", func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

func (f osFile) Datasync() error { return f.control("fdatasync", unix.Fdatasync) }

// infoOf translates what stat(2) says; st_blocks counts sectors of 512 bytes, see stat(3type).
func infoOf(st *unix.Stat_t) Info {
	const sector = 512
	return Info{
		ID: ID{st.Dev, st.Ino}, Mode: modeOf(st.Mode), Links: uint64(st.Nlink), UID: st.Uid,
		Size: st.Size, Allocated: st.Blocks * sector, BlockSize: int64(st.Blksize), ModTime: time.Unix(st.Mtim.Unix()),
	}
}

func modeOf(m uint32) fs.FileMode {
	kinds := [...]struct {
		bits uint32
		mode fs.FileMode
	}{
		{unix.S_IFREG, 0}, {unix.S_IFDIR, fs.ModeDir}, {unix.S_IFLNK, fs.ModeSymlink}, {unix.S_IFIFO, fs.ModeNamedPipe},
		{unix.S_IFSOCK, fs.ModeSocket}, {unix.S_IFCHR, fs.ModeDevice | fs.ModeCharDevice}, {unix.S_IFBLK, fs.ModeDevice},
	}
	for _, k := range kinds {
		if m&unix.S_IFMT == k.bits {
			return fs.FileMode(m&0o777) | k.mode
		}
	}
	return fs.FileMode(m&0o777) | fs.ModeIrregular
}
