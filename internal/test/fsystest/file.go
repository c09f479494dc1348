package fsystest

import (
	"io"
	"io/fs"
	"math"
	"slices"
	"syscall"
	"time"

	"braid/internal/fsys"
)

// file is an open file of a Disk.
type file struct {
	handle
	readOnly bool
}

func (f *file) Name() string { return f.path }

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.enter("read"); err != nil {
		return 0, err
	}
	defer f.disk.mu.Unlock()
	switch {
	case f.n.dir:
		return 0, f.fail("read", "", syscall.EISDIR)
	case off < 0:
		return 0, f.fail("read", "", syscall.EINVAL)
	case off >= f.n.data.size:
		return 0, io.EOF
	}
	n := f.n.data.read(p, off)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	if err := f.writing("write"); err != nil {
		return 0, err
	}
	defer f.disk.mu.Unlock()
	if off < 0 {
		return 0, f.fail("write", "", syscall.EINVAL)
	}
	if len(p) == 0 {
		return 0, nil
	}
	f.n.data.write(p, off)
	f.n.time = time.Now()
	f.n.wrote(f)
	f.disk.note(change{kind: data, n: f.n, off: off, data: slices.Clone(p)})
	return len(p), nil
}

// writing is enter for operations that change the file.
func (f *file) writing(op string) error {
	if err := f.enter(op); err != nil {
		return err
	}
	if f.readOnly {
		f.disk.mu.Unlock()
		return f.fail(op, "", syscall.EBADF)
	}
	return nil
}

func (f *file) Info() (fsys.Info, error) {
	if err := f.enter("stat"); err != nil {
		return fsys.Info{}, err
	}
	defer f.disk.mu.Unlock()
	return f.n.info(), nil
}

func (f *file) Truncate(size int64) error {
	if err := f.writing("truncate"); err != nil {
		return err
	}
	defer f.disk.mu.Unlock()
	f.n.data.resize(size)
	f.n.room = min(f.n.room, size)
	f.n.time = time.Now()
	f.n.wrote(f)
	f.disk.note(change{kind: length, n: f.n, off: size})
	return nil
}

func (f *file) Chmod(mode fs.FileMode) error {
	if err := f.enter("chmod"); err != nil {
		return err
	}
	defer f.disk.mu.Unlock()
	f.n.mode = mode.Perm()
	f.disk.note(change{kind: meta, n: f.n, mode: f.n.mode, time: f.n.time})
	return nil
}

func (f *file) Reserve(size int64) error {
	if err := f.writing("preallocate"); err != nil {
		return err
	}
	defer f.disk.mu.Unlock()
	f.n.room = max(f.n.room, size)
	return nil
}

func (f *file) Release(off, n int64) error {
	if err := f.writing("release"); err != nil {
		return err
	}
	defer f.disk.mu.Unlock()
	end := min(off+n, f.n.data.size)
	if off < end {
		zeroes := make([]byte, end-off)
		f.n.data.write(zeroes, off)
		f.disk.note(change{kind: data, n: f.n, off: off, data: zeroes})
	}
	return nil
}

func (f *file) Free() (int64, error) { return math.MaxInt64 / 2, nil }

// Guard returns a guard that detects writes through other handles.
func (f *file) Guard() (fsys.Guard, error) { return &guard{f: f, seen: math.MaxInt}, nil }

func (f *file) TryLock() (bool, error) {
	if err := f.enter("lock"); err != nil {
		return false, err
	}
	defer f.disk.mu.Unlock()
	if f.n.holder != nil && f.n.holder != f {
		return false, nil
	}
	f.n.holder = f
	return true, nil
}

func (f *file) Datasync() error { return f.sync("fdatasync", syncData) }
func (f *file) Sync() error     { return f.sync("sync", syncAll) }

func (f *file) sync(op string, k kind) error {
	if err := f.enter(op); err != nil {
		return err
	}
	defer f.disk.mu.Unlock()
	f.disk.note(change{kind: k, n: f.n})
	return nil
}

// loseSync logs a failed sync; see LostSync.
func (f *file) loseSync() {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.disk.note(change{kind: lostSync, n: f.n})
}

func (f *file) Close() error {
	if err := f.enter("close"); err != nil {
		return err
	}
	defer f.disk.mu.Unlock()
	f.shut = true
	if f.n.holder == f {
		f.n.holder = nil
	}
	return nil
}
