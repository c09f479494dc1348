package partfile

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A folder is where a download goes. Names are looked up in the open folder, so that renaming or replacing
// one above it changes nothing for a download under way.
type folder struct {
	dir  *os.File
	path string // for messages
}

// openFolder opens the folder of name, which is relative to dir. The user's own dir may be a symbolic link;
// folders in name come from a document and may not (rule 5).
func openFolder(dir, name string) (d folder, base string, err error) {
	if !fs.ValidPath(name) || name == "." {
		return d, "", &NameError{filepath.Join(dir, name), "is no name for a file"}
	}
	if dir == "" {
		dir = "."
	}
	f, err := openDir(dir)
	if err != nil {
		return d, "", err
	}
	d = folder{f, dir}
	parents := strings.Split(name, "/")
	base = parents[len(parents)-1]
	for _, p := range parents[:len(parents)-1] {
		sub, err := d.open(p, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		d.close()
		switch {
		case errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
			return d, "", &NameError{d.join(p), "is not a folder, or a symbolic link to one"}
		case err != nil:
			return d, "", err
		}
		d = folder{sub, d.join(p)}
	}
	return d, base, nil
}

// openDir opens a folder. Other than os.Open it does not offer it to the poller, which wants no folders.
func openDir(dir string) (*os.File, error) {
	for {
		fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		switch err {
		case nil:
			return os.NewFile(uintptr(fd), dir), nil
		case unix.EINTR:
		default:
			return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
		}
	}
}

func (d folder) close() error { return d.dir.Close() }

func (d folder) join(name string) string { return path.Join(d.path, name) }

// do calls fn with the descriptor of the folder. An error says op and name.
func (d folder) do(op, name string, fn func(fd int) error) error {
	if err := control(d.dir, fn); err != nil {
		return &fs.PathError{Op: op, Path: d.join(name), Err: err}
	}
	return nil
}

// control calls fn with the descriptor of f until no signal interrupts it.
func control(f *os.File, fn func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		for failed = fn(int(fd)); failed == unix.EINTR; {
			failed = fn(int(fd))
		}
	})
	if err != nil {
		return err
	}
	return failed
}

// open opens name and never what a symbolic link of that name stands for.
func (d folder) open(name string, flags int, perm uint32) (f *os.File, err error) {
	err = d.do("open", name, func(dir int) error {
		// Without O_NONBLOCK, opening a FIFO may wait for its other end for ever. Files do not care, and a new one is
		// none.
		wait := 0
		if flags&unix.O_EXCL == 0 {
			wait = unix.O_NONBLOCK
		}
		fd, err := unix.Openat(dir, name, flags|wait|unix.O_NOFOLLOW|unix.O_CLOEXEC, perm)
		if err != nil {
			return err
		}
		if wait != 0 {
			if err := unix.SetNonblock(fd, false); err != nil {
				unix.Close(fd)
				return err
			}
		}
		f = os.NewFile(uintptr(fd), d.join(name))
		return nil
	})
	return f, err
}

// stat looks at name itself.
func (d folder) stat(name string) (st unix.Stat_t, err error) {
	err = d.do("stat", name, func(dir int) error {
		return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	})
	return st, err
}

// remove makes sure that there is no file at name.
func (d folder) remove(name string) error {
	err := d.do("remove", name, func(dir int) error { return unix.Unlinkat(dir, name, 0) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// rename replaces what is at to, unless that is a folder.
func (d folder) rename(from, to string) error {
	return d.do("rename to", to, func(dir int) error { return unix.Renameat(dir, from, dir, to) })
}

// renameNew never replaces anything: if there is something at to, the error is fs.ErrExist.
func (d folder) renameNew(from, to string) error {
	err := d.do("rename to", to, func(dir int) error {
		return unix.Renameat2(dir, from, dir, to, unix.RENAME_NOREPLACE)
	})
	// Some file systems know no flags (EINVAL), some kernels no such call (ENOSYS).
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return d.linkNew(from, to)
	}
	return err
}

// linkNew is renameNew in two steps. Between them there are two names.
func (d folder) linkNew(from, to string) error {
	err := d.do("link to", to, func(dir int) error { return unix.Linkat(dir, from, dir, to, 0) })
	if err != nil {
		return err
	}
	return d.remove(from)
}

// sync puts on disk which names the folder has. File systems that cannot are left alone.
func (d folder) sync() error {
	err := d.dir.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// openOurs opens the file at name for reading and writing, or creates it. It must be an ordinary file, ours,
// and have no second name (rule 1).
func (d folder) openOurs(name string) (file *os.File, isNew bool, err error) {
	const attempts = 100 // somebody else may create and remove it all the time
	for range attempts {
		f, err := d.open(name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, err == nil, err
		}
		if st, err := d.stat(name); err == nil {
			if err := ours(d.join(name), &st); err != nil {
				return nil, false, err
			}
		}
		f, err = d.open(name, unix.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ELOOP) {
			continue // changed since stat
		}
		if err != nil {
			return nil, false, err
		}
		if same, err := d.names(name, f); same || err != nil {
			f, err = closeUnless(f, err)
			return f, false, err
		}
		f.Close()
	}
	return nil, false, &NameError{d.join(name), "is being changed by somebody else"}
}

// closeUnless returns f, or closes it if there is an error.
func closeUnless(f *os.File, err error) (*os.File, error) {
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// names says whether name still stands for f. The error is a *NameError if f is not ours.
func (d folder) names(name string, f *os.File) (bool, error) {
	var open unix.Stat_t
	if err := fstat(f, &open); err != nil {
		return false, err
	}
	named, err := d.stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case named.Dev != open.Dev || named.Ino != open.Ino:
		return false, nil
	}
	// Of the two looks the later one counts: there, the name and the number of names are from one moment.
	return true, ours(d.join(name), &named)
}

// ours checks that a file is an ordinary one, ours, and has one name (rule 1).
func ours(path string, st *unix.Stat_t) error {
	switch {
	case kind(st.Mode) != "":
		return &NameError{path, "is " + kind(st.Mode)}
	case int(st.Uid) != os.Geteuid():
		return &NameError{path, "belongs to user " + strconv.Itoa(int(st.Uid))}
	case st.Nlink > 1:
		return &NameError{path, "has " + strconv.Itoa(int(st.Nlink)) + " names"}
	}
	return nil
}

// kind names what is not an ordinary file, and is empty for one.
func kind(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return ""
	case unix.S_IFLNK:
		return "a symbolic link"
	case unix.S_IFDIR:
		return "a folder"
	case unix.S_IFIFO:
		return "a FIFO"
	case unix.S_IFSOCK:
		return "a socket"
	}
	return "a device"
}

func fstat(f *os.File, st *unix.Stat_t) error {
	if err := control(f, func(fd int) error { return unix.Fstat(fd, st) }); err != nil {
		return &fs.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return nil
}

func datasync(f *os.File) error {
	if err := control(f, unix.Fdatasync); err != nil {
		return &fs.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
	}
	return nil
}
