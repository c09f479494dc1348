package fsystest

import (
	"io/fs"
	"path"
	"sync"
	"time"

	"braid/internal/fsys"
)

// Op is an operation that is about to be executed.
type Op struct {
	Name string // "create", "write", "sync", ...
	Path string
	// Changes is set if the operation changes stored data, and Syncs if it syncs data to disk.
	Changes, Syncs bool
}

// Short is returned by the function of a Tap for a write that stops in the middle with Err.
type Short struct{ Err error }

func (s Short) Error() string { return s.Err.Error() }
func (s Short) Unwrap() error { return s.Err }

// LostSync is returned by the function of a Tap for a sync that fails as on Linux: the unsynced data will never reach
// the disk, although it can be read until the machine stops and the next sync succeeds.
type LostSync struct{ Err error }

func (s LostSync) Error() string { return s.Err.Error() }
func (s LostSync) Unwrap() error { return s.Err }

// Late is returned by the function of a Tap for an operation that blocks until Until is closed and then succeeds. Other
// operations continue.
type Late struct{ Until <-chan struct{} }

func (l Late) Error() string { return "late" }

// Tap returns a file system that calls ask before each operation except Release. If ask returns an error, the operation
// fails with it and has no effect. ask may be called from many goroutines.
func Tap(files fsys.FS, ask func(Op) error) fsys.FS { return &tap{files: files, ask: ask} }

type tap struct {
	files fsys.FS

	mu  sync.Mutex // held while ask is called
	ask func(Op) error
}

// may calls ask.
func (t *tap) may(op Op) error {
	t.mu.Lock()
	err := t.ask(op)
	t.mu.Unlock()
	if late, ok := err.(Late); ok {
		<-late.Until
		err = nil
	}
	if err != nil {
		return &fs.PathError{Op: op.Name, Path: op.Path, Err: err}
	}
	return nil
}

func (t *tap) OpenDir(name string) (fsys.Dir, error) {
	return t.dir(Op{Name: "open folder", Path: name}, func() (fsys.Dir, error) { return t.files.OpenDir(name) })
}

func (t *tap) dir(op Op, open func() (fsys.Dir, error)) (fsys.Dir, error) {
	if err := t.may(op); err != nil {
		return nil, err
	}
	d, err := open()
	if err != nil {
		return nil, err
	}
	return &tapDir{t, d, op.Path}, nil
}

func (t *tap) file(op Op, open func() (fsys.File, error)) (fsys.File, error) {
	if err := t.may(op); err != nil {
		return nil, err
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	return &tapFile{f, t}, nil
}

func (t *tap) Open(name string) (fsys.File, error) {
	return t.file(Op{Name: "open", Path: name}, func() (fsys.File, error) { return t.files.Open(name) })
}

func (t *tap) Stat(name string) (fsys.Info, error) {
	if err := t.may(Op{Name: "stat", Path: name}); err != nil {
		return fsys.Info{}, err
	}
	return t.files.Stat(name)
}

func (t *tap) OpenTemp(name string) (fsys.File, error) {
	return t.file(Op{Name: "create", Path: name, Changes: true}, func() (fsys.File, error) { return t.files.OpenTemp(name) })
}

type tapDir struct {
	t    *tap
	d    fsys.Dir
	path string
}

func (d *tapDir) op(name, entry string) Op { return Op{Name: name, Path: path.Join(d.path, entry)} }

// may calls ask for an operation that changes an entry.
func (d *tapDir) may(name, entry string) error {
	op := d.op(name, entry)
	op.Changes = true
	return d.t.may(op)
}

func (d *tapDir) OpenDir(name string) (fsys.Dir, error) {
	return d.t.dir(d.op("open folder", name), func() (fsys.Dir, error) { return d.d.OpenDir(name) })
}

func (d *tapDir) Create(name string, perm fs.FileMode) (fsys.File, error) {
	op := d.op("create", name)
	op.Changes = true
	return d.t.file(op, func() (fsys.File, error) { return d.d.Create(name, perm) })
}

func (d *tapDir) Open(name string) (fsys.File, error) {
	return d.t.file(d.op("open", name), func() (fsys.File, error) { return d.d.Open(name) })
}

func (d *tapDir) Mkdir(name string, perm fs.FileMode) error {
	if err := d.may("make folder", name); err != nil {
		return err
	}
	return d.d.Mkdir(name, perm)
}

func (d *tapDir) Stat(name string) (fsys.Info, error) {
	if err := d.t.may(d.op("stat", name)); err != nil {
		return fsys.Info{}, err
	}
	return d.d.Stat(name)
}

func (d *tapDir) SetTime(name string, at time.Time) error {
	if err := d.may("set the time of", name); err != nil {
		return err
	}
	return d.d.SetTime(name, at)
}

func (d *tapDir) Remove(name string) error {
	if err := d.may("remove", name); err != nil {
		return err
	}
	return d.d.Remove(name)
}

func (d *tapDir) Rename(from, to string) error {
	if err := d.may("rename to", to); err != nil {
		return err
	}
	return d.d.Rename(from, to)
}

func (d *tapDir) RenameNew(from, to string) error {
	if err := d.may("rename to", to); err != nil {
		return err
	}
	return d.d.RenameNew(from, to)
}

func (d *tapDir) Link(from string, other fsys.Dir, to string) error {
	if o, ok := other.(*tapDir); ok {
		other = o.d
	}
	if err := d.may("link to", to); err != nil {
		return err
	}
	return d.d.Link(from, other, to)
}

func (d *tapDir) Names() ([]string, error) {
	if err := d.t.may(d.op("read folder", "")); err != nil {
		return nil, err
	}
	return d.d.Names()
}

func (d *tapDir) Where() string { return d.d.Where() }

func (d *tapDir) Sync() error {
	op := d.op("sync folder", "")
	op.Syncs = true
	if err := d.t.may(op); err != nil {
		return err
	}
	return d.d.Sync()
}

func (d *tapDir) Close() error {
	refused := d.t.may(d.op("close folder", ""))
	if err := d.d.Close(); err != nil {
		return err
	}
	return refused
}

// tapFile is a file of a tap. Methods that it does not define do not call ask.
type tapFile struct {
	fsys.File
	t *tap
}

func (f *tapFile) may(name string, changes, syncs bool) error {
	return f.t.may(Op{Name: name, Path: f.Name(), Changes: changes, Syncs: syncs})
}

func (f *tapFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.may("read", false, false); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *tapFile) WriteAt(p []byte, off int64) (int, error) {
	err := f.may("write", true, false)
	if err == nil {
		return f.File.WriteAt(p, off)
	}
	n := 0
	if path, ok := err.(*fs.PathError); ok {
		if _, short := path.Err.(Short); short {
			n, _ = f.File.WriteAt(p[:len(p)/2], off)
		}
	}
	return n, err
}

func (f *tapFile) Info() (fsys.Info, error) {
	if err := f.may("stat", false, false); err != nil {
		return fsys.Info{}, err
	}
	return f.File.Info()
}

func (f *tapFile) Truncate(size int64) error {
	if err := f.may("truncate", true, false); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *tapFile) Chmod(mode fs.FileMode) error {
	if err := f.may("chmod", true, false); err != nil {
		return err
	}
	return f.File.Chmod(mode)
}

func (f *tapFile) Reserve(size int64) error {
	if err := f.may("preallocate", true, false); err != nil {
		return err
	}
	return f.File.Reserve(size)
}

func (f *tapFile) Free() (int64, error) {
	if err := f.may("statfs", false, false); err != nil {
		return 0, err
	}
	return f.File.Free()
}

func (f *tapFile) TryLock() (bool, error) {
	if err := f.may("lock", false, false); err != nil {
		return false, err
	}
	return f.File.TryLock()
}

func (f *tapFile) Datasync() error {
	if err := f.may("fdatasync", false, true); err != nil {
		return f.lose(err)
	}
	return f.File.Datasync()
}

func (f *tapFile) Sync() error {
	if err := f.may("sync", false, true); err != nil {
		return f.lose(err)
	}
	return f.File.Sync()
}

// lose tells a file of a Disk that a sync was lost.
func (f *tapFile) lose(err error) error {
	if path, ok := err.(*fs.PathError); ok {
		if _, lost := path.Err.(LostSync); lost {
			f.File.(*file).loseSync()
		}
	}
	return err
}

func (f *tapFile) Close() error {
	refused := f.may("close", false, false)
	if err := f.File.Close(); err != nil {
		return err
	}
	return refused
}
