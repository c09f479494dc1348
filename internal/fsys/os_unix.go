//go:build linux || darwin

package fsys

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// OS is the file system of the operating system.
var OS FS = osFS{}

type osFS struct{}

func (osFS) OpenDir(dir string) (Dir, error) {
	fd, err := openat(unix.AT_FDCWD, dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	// Unlike os.Open, this does not register the folder with the poller, which does not support folders.
	return osDir{os.NewFile(uintptr(fd), dir)}, nil
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

// openUnlinked creates a nameless file where O_TMPFILE is not supported, such as on NFS and on other systems.
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

// openat opens a file that child processes do not inherit.
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

// blocking returns the file of a descriptor that was opened with O_NONBLOCK, in blocking mode.
func blocking(fd int, name string) (File, error) {
	if err := unix.SetNonblock(fd, false); err != nil {
		unix.Close(fd)
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return osFile{os.NewFile(uintptr(fd), name)}, nil
}

// control calls fn with the descriptor of f until no signal interrupts fn. An error contains op and name.
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

// osDir implements Dir.
type osDir struct{ f *os.File }

// do calls fn with the descriptor of the folder. An error contains op and the path of the entry.
func (d osDir) do(op, name string, fn func(fd int) error) error {
	err := control(d.f, op, name, fn)
	if e, ok := err.(*fs.PathError); ok {
		e.Path = path.Join(d.f.Name(), name)
	}
	return err
}

// open opens an entry. It does not follow symbolic links.
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

// Open does not wait for the other end of a FIFO. O_NONBLOCK has no effect on regular files.
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

func (d osDir) Link(from string, dir Dir, to string) error {
	other, ok := dir.(osDir)
	if !ok {
		return &fs.PathError{Op: "link to", Path: to, Err: unix.EXDEV}
	}
	return d.do("link from", from, func(here int) error {
		return other.do("link to", to, func(there int) error { return unix.Linkat(here, from, there, to, 0) })
	})
}

// Names uses a new descriptor, because the folder's descriptor keeps its read position.
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

// osFile implements File.
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

func (f osFile) TryLock() (bool, error) {
	err := f.control("lock", func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// modeOf converts the mode of stat(2).
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

// infoOf converts the result of stat(2). st_blocks counts sectors of 512 bytes; see stat(3type).
func infoOf(st *unix.Stat_t) Info {
	const sector = 512
	return Info{
		ID: ID{uint64(st.Dev), st.Ino}, Mode: modeOf(uint32(st.Mode)), Links: uint64(st.Nlink), UID: int(st.Uid),
		Size: st.Size, Allocated: st.Blocks * sector, BlockSize: int64(st.Blksize), ModTime: time.Unix(st.Mtim.Unix()),
		Changed: time.Unix(st.Ctim.Unix()),
	}
}

// roomOf returns the number of bytes in blocks of the given size.
func roomOf(blocks uint64, size int64) int64 {
	if blocks < uint64(math.MaxInt64/max(size, 1)) {
		return int64(blocks) * size
	}
	return math.MaxInt64
}
