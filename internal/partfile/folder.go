package partfile

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"braid/internal/fsys"
)

// folder is the open folder for the files of a download. Names are looked up relative to the open folder, so renaming
// or replacing one of its parents does not affect a running download.
type folder struct {
	files fsys.FS
	dir   fsys.Dir
	path  string // for messages
}

// openFolder opens the folder that contains name, which is relative to dir. The user chose dir, which may be a symbolic
// link. A document may have chosen the folders within name, which must not be symbolic links.
func openFolder(files fsys.FS, dir, name string) (d folder, base string, err error) {
	if !fs.ValidPath(name) || name == "." {
		return d, "", &NameError{filepath.Join(dir, name), "is not a valid file name"}
	}
	if dir == "" {
		dir = "."
	}
	files = fsys.Or(files)
	f, err := files.OpenDir(dir)
	if err != nil {
		return d, "", err
	}
	d = folder{files, f, dir}
	parents := strings.Split(name, "/")
	base = parents[len(parents)-1]
	for _, p := range parents[:len(parents)-1] {
		sub, err := d.dir.OpenDir(p)
		d.close()
		switch {
		case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP):
			return d, "", &NameError{d.join(p), "is a symbolic link, or not a folder"}
		case err != nil:
			return d, "", err
		}
		d = folder{files, sub, d.join(p)}
	}
	return d, base, nil
}

func (d folder) close() error { return d.dir.Close() }

func (d folder) join(name string) string { return path.Join(d.path, name) }

// remove removes the file at name. A missing file is no error.
func (d folder) remove(name string) error {
	err := d.dir.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// renameNew renames from to to without replacing a file: if to exists, the error is fs.ErrExist. Some file systems
// (FUSE, vboxsf) can neither rename without replacing nor create a second link. There renameNew checks to first and
// then renames, so a file created in between is replaced.
func (d folder) renameNew(from, to string) error {
	err := d.dir.RenameNew(from, to)
	if unable(err) {
		err = d.linkNew(from, to)
	}
	if !unable(err) {
		return err
	}
	switch _, err := d.dir.Stat(to); {
	case err == nil:
		return &fs.PathError{Op: "rename to", Path: d.join(to), Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return d.dir.Rename(from, to)
}

// unable reports whether err means that the file system does not support an operation. File systems report this in
// different ways: link(2) returns EPERM, renameat2(2) EINVAL, some FUSE file systems ENOSYS, and others EXDEV.
func unable(err error) bool {
	lacks := func(target error) bool { return errors.Is(err, target) }
	return slices.ContainsFunc([]error{
		errors.ErrUnsupported, syscall.EPERM, syscall.ENOSYS, syscall.EOPNOTSUPP, syscall.EINVAL, syscall.EXDEV,
	}, lacks)
}

// linkNew implements renameNew by link and remove. In between, the file has both names.
func (d folder) linkNew(from, to string) error {
	if err := d.dir.Link(from, d.dir, to); err != nil {
		return err
	}
	return d.remove(from)
}

// openOurs opens the file at name for reading and writing, or creates it. The file must be an ordinary file that
// belongs to this user and has no second name.
func (d folder) openOurs(name string) (file fsys.File, isNew bool, err error) {
	const attempts = 100 // another program may create and remove the file repeatedly
	for range attempts {
		f, err := d.dir.Create(name, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, err == nil, err
		}
		if info, err := d.dir.Stat(name); err == nil {
			if err := ours(d.join(name), info); err != nil {
				return nil, false, err
			}
		}
		f, err = d.dir.Open(name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) {
			continue // changed since Stat
		}
		if err != nil {
			return nil, false, err
		}
		if _, same, err := d.isNameOf(name, f); same || err != nil {
			f, err = closeUnless(f, err)
			return f, false, err
		}
		f.Close()
	}
	return nil, false, &NameError{d.join(name), "is being changed by another program"}
}

// closeUnless returns f, or closes it if err is not nil.
func closeUnless(f fsys.File, err error) (fsys.File, error) {
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// isNameOf reports whether name still refers to f, and returns the state of the file at name. The error is a *NameError if
// ours rejects it.
func (d folder) isNameOf(name string, f fsys.File) (info fsys.Info, same bool, err error) {
	open, err := f.Info()
	if err != nil {
		return info, false, err
	}
	info, err = d.dir.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return info, false, nil
	case err != nil || info.ID != open.ID:
		return info, false, err
	}
	// Use the result of the later call, in which the name and the number of links are from the same moment.
	return info, true, ours(d.join(name), info)
}

// ours returns an error if the file is not ordinary, not of the effective user, or has several names. The effective
// user may change during the process: apt's transport begins as root and drops its rights.
func ours(path string, info fsys.Info) error {
	switch {
	case kind(info.Mode) != "":
		return &NameError{path, "is " + kind(info.Mode)}
	case info.UID != os.Geteuid():
		return &NameError{path, "belongs to user " + strconv.Itoa(info.UID)}
	case info.Links > 1:
		return &NameError{path, "has " + strconv.FormatUint(info.Links, 10) + " hard links"}
	}
	return nil
}

// kind describes the type in mode of a file that is not ordinary. It is empty for an ordinary file.
func kind(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return ""
	case fs.ModeSymlink:
		return "a symbolic link"
	case fs.ModeDir:
		return "a folder"
	case fs.ModeNamedPipe:
		return "a FIFO"
	case fs.ModeSocket:
		return "a socket"
	}
	return "a device"
}

// checkPath returns a *MovedError if the path of the entry name does not lead to the entry any more. The open folder
// contains the entry even if the folder was moved. Other errors are ignored.
func (d folder) checkPath(name string) error {
	here, err := d.dir.Stat(name)
	if err != nil {
		return nil
	}
	at, err := d.files.Stat(d.join(name))
	if err == nil && at.ID == here.ID || err != nil && !notThere(err) {
		return nil
	}
	moved := &MovedError{Path: d.join(name),
		What: "its folder was moved or removed meanwhile, together with the file"}
	if where := d.dir.Where(); where != "" {
		now := path.Join(where, name)
		if at, err := d.files.Stat(now); err == nil && at.ID == here.ID {
			moved.Now, moved.What = now, "its folder was moved or renamed meanwhile: it is now "+now
		}
	}
	return moved
}

// placed returns the state of the file that has the final name. It reports false if the file is missing, or if a part
// file of the same name contains other bytes than the file.
func (d folder) placed(name string) (info fsys.Info, ok bool, err error) {
	info, there, err := d.target(name)
	if _, other := errors.AsType[*NameError](err); other || !there && err == nil {
		return info, false, nil
	}
	if err != nil {
		return info, false, err
	}
	part, err := d.dir.Stat(name + partEnding)
	if errors.Is(err, fs.ErrNotExist) {
		return info, true, nil
	}
	return info, err == nil && (part.ID == info.ID || kind(part.Mode) == "" && part.Size == 0), err
}

// target returns the state of the ordinary file name, if present. For anything else at name, the error is a takenError.
func (d folder) target(name string) (info fsys.Info, present bool, err error) {
	info, err = d.dir.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fsys.Info{}, false, nil
	case err != nil:
		return fsys.Info{}, false, err
	case kind(info.Mode) != "":
		return fsys.Info{}, false, takenError{&NameError{d.join(name), "is " + kind(info.Mode)}}
	}
	return info, true, nil
}

// make creates the folder name, unless it exists.
func (d folder) make(name string) error {
	err := fsys.Mkdir(d.dir, name, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return &NameError{d.join(name), "is a symbolic link, or not a folder"}
	}
	return err
}

// MakeFolders creates the missing folders of name, which is relative to dir, and syncs them. If one of them exists but
// is a symbolic link or not a folder, the error is a *NameError.
func MakeFolders(files fsys.FS, dir, name string) error {
	if !fs.ValidPath(name) || name == "." {
		return &NameError{filepath.Join(dir, name), "is not a valid file name"}
	}
	parents, last := "", path.Dir(name)
	if last == "." {
		return nil
	}
	for p := range strings.SplitSeq(last, "/") {
		parents = path.Join(parents, p)
		d, base, err := openFolder(files, dir, parents)
		if err != nil {
			return err
		}
		err = d.make(base)
		d.close()
		if err != nil {
			return err
		}
	}
	return nil
}
