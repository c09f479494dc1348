package fsys

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// OS is the file system of the operating system. On Windows, owners and allocated sizes are unknown, and space is not
// reserved. Folders cannot be synced: after a loss of power a name may be missing, but never wrong.
var OS FS = osFS{}

type osFS struct{}

func (osFS) OpenDir(dir string) (Dir, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return osDir{root}, nil
}

func (osFS) Open(name string) (File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Stat(name string) (Info, error) {
	f, err := os.Open(name)
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	return osFile{f}.Info()
}

// OpenTemp creates a file that the system removes when the file is closed.
func (osFS) OpenTemp(dir string) (File, error) {
	const attempts = 100
	for i := range attempts {
		number := strconv.FormatInt(time.Now().UnixNano()+int64(i), 36)
		name := filepath.Join(dir, ".braid-"+strconv.Itoa(os.Getpid())+"-"+number+".tmp")
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|windows.FILE_FLAG_DELETE_ON_CLOSE, 0o600)
		if err == nil {
			return osFile{f}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return nil, &fs.PathError{Op: "open a temporary file in", Path: dir, Err: fs.ErrExist}
}

// osDir implements Dir. [os.Root] refuses symbolic links that lead out of its folder, and osDir refuses all others.
type osDir struct{ root *os.Root }

func (d osDir) at(name string) string { return filepath.Join(d.root.Name(), name) }

// plain returns an error for a symbolic link.
func (d osDir) plain(name string) error {
	info, err := d.root.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return &fs.PathError{Op: "open", Path: d.at(name), Err: syscall.ELOOP}
	}
	return err
}

func (d osDir) OpenDir(name string) (Dir, error) {
	if err := d.plain(name); err != nil {
		return nil, err
	}
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return osDir{root}, nil
}

func (d osDir) Create(name string, perm fs.FileMode) (File, error) {
	f, err := d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm.Perm())
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (d osDir) Open(name string) (File, error) {
	if err := d.plain(name); err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// Where returns an empty path: Windows does not move folders that are open.
func (d osDir) Where() string { return "" }

func (d osDir) Mkdir(name string, perm fs.FileMode) error { return d.root.Mkdir(name, perm.Perm()) }

func (d osDir) Stat(name string) (Info, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return Info{Mode: info.Mode(), ModTime: info.ModTime()}, nil
	}
	f, err := d.root.Open(name)
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	return osFile{f}.Info()
}

func (d osDir) SetTime(name string, t time.Time) error { return d.root.Chtimes(name, t, t) }

func (d osDir) Remove(name string) error { return d.root.Remove(name) }

func (d osDir) Rename(from, to string) error { return d.root.Rename(from, to) }

// RenameNew returns errors.ErrUnsupported: os.Root has no rename that never replaces. Callers use Link instead.
func (d osDir) RenameNew(_, to string) error {
	return &fs.PathError{Op: "rename to", Path: d.at(to), Err: errors.ErrUnsupported}
}

func (d osDir) Link(from string, dir Dir, to string) error {
	if other, ok := dir.(osDir); !ok || other.root != d.root {
		return &fs.PathError{Op: "link to", Path: to, Err: syscall.EXDEV}
	}
	return d.root.Link(from, to)
}

func (d osDir) Names() ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

func (d osDir) Sync() error { return nil }

func (d osDir) Close() error { return d.root.Close() }

// osFile implements File.
type osFile struct{ *os.File }

func (f osFile) Info() (Info, error) {
	info, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	var by windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &by); err != nil {
		return Info{}, &fs.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	const block = 4096
	return Info{
		ID:   ID{uint64(by.VolumeSerialNumber), uint64(by.FileIndexHigh)<<32 | uint64(by.FileIndexLow)},
		Mode: info.Mode(), Links: uint64(by.NumberOfLinks), UID: os.Geteuid(),
		Size: info.Size(), Allocated: info.Size(), BlockSize: block, ModTime: info.ModTime(),
	}, nil
}

func (f osFile) Reserve(int64) error { return nil }

func (f osFile) Release(_, _ int64) error { return nil }

func (f osFile) Free() (int64, error) {
	dir, err := windows.UTF16PtrFromString(filepath.Dir(f.Name()))
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(dir, &free, nil, nil); err != nil {
		return 0, &fs.PathError{Op: "ask for room at", Path: f.Name(), Err: err}
	}
	return int64(min(free, math.MaxInt64)), nil
}

// TryLock locks a byte far beyond the end of the file, because on Windows a locked range cannot be read by other
// processes.
func (f osFile) TryLock() (bool, error) {
	far := &windows.Overlapped{OffsetHigh: math.MaxInt32}
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, far)
	switch {
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION):
		return false, nil
	case err != nil:
		return false, &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return true, nil
}

func (f osFile) Datasync() error { return f.Sync() }

// SyncAll does nothing: Windows lets only privileged users sync a whole file system.
func SyncAll(string) error { return nil }

// InfoOf returns the part of Info that package os provides on Windows: size and modification time.
func InfoOf(info fs.FileInfo) Info { return Info{Size: info.Size(), ModTime: info.ModTime()} }
