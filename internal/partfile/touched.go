package partfile

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"braid/byterange"
	"braid/internal/fsys"
)

// TouchedError reports that another program changed the part file. Its bytes must be checked again; see [File.Recheck].
type TouchedError struct {
	Path string
	What string // "was cut by another program", ...
}

func (e *TouchedError) Error() string { return e.Path + ": " + e.What }

// guardState detects changes of the part file by other programs. Before the guard watches, and on systems without a
// guard, the size and times of the file are compared with those after braid's last write.
//
// Ending a watch takes the system longer than downloading a small file. So a new file, which no other program can have
// open yet, is watched only after watchedSize bytes or the first Flush.
type guardState struct {
	guard    fsys.Guard  // nil if the system has none
	accepted bool        // ignore that the file is open elsewhere or has holes: Recheck has read it
	early    atomic.Bool // not watched yet

	mu      sync.Mutex
	written int64     // bytes written while early, which is done one write at a time
	last    fsys.Info // state after braid's last change
	touched error     // the change found while early, or the error of looking for one
}

const watchedSize = 1 << 20

// startGuard begins to guard the part file. A file that is not new is watched at once.
func (f *File) startGuard(isNew bool) error {
	f.guarded.guard, _ = f.part.Guard()
	f.guarded.early.Store(true)
	if err := f.recordInfo(); err != nil || isNew {
		return err
	}
	return f.watch()
}

// watch starts the watch. On a system without one, the file is compared after each write from now on.
func (f *File) watch() error {
	f.guarded.mu.Lock()
	defer f.guarded.mu.Unlock()
	return f.endEarly()
}

// endEarly is watch for a caller that holds guarded.mu.
func (f *File) endEarly() error {
	g := &f.guarded
	if !g.early.Load() {
		return nil
	}
	if g.guard != nil && g.guard.Watch() != nil {
		g.guard = nil
	}
	g.early.Store(false)
	return f.compare()
}

// compare sets guarded.touched if the file was changed since braid's last write, or if that cannot be determined. The
// caller holds guarded.mu.
func (f *File) compare() error {
	info, err := f.part.Info()
	if f.guarded.touched == nil {
		if f.guarded.touched = err; err == nil {
			f.guarded.touched = f.differs(info)
		}
	}
	return err
}

// put writes p to the part file.
func (f *File) put(p []byte, off int64) (n int, err error) {
	switch {
	case f.temporary():
		return f.part.WriteAt(p, off)
	case f.guarded.early.Load():
		return f.putEarly(p, off)
	}
	n, err = f.part.WriteAt(p, off)
	if f.guarded.guard == nil {
		err = errors.Join(err, f.recordInfo())
	}
	return n, err
}

// putEarly writes p while the file is not watched.
func (f *File) putEarly(p []byte, off int64) (n int, err error) {
	g := &f.guarded
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.written += int64(len(p)); g.written > watchedSize {
		err = f.endEarly()
	} else if g.early.Load() {
		err = f.compare()
	}
	if err != nil {
		return 0, err
	}
	n, err = f.part.WriteAt(p, off)
	return n, errors.Join(err, f.keepInfo())
}

// stopGuard ends the watch.
func (f *File) stopGuard() {
	if f.guarded.guard != nil {
		f.guarded.guard.Close()
		f.guarded.guard = nil
	}
}

// recordInfo records the present state of the file as the one that braid left.
func (f *File) recordInfo() error {
	f.guarded.mu.Lock()
	defer f.guarded.mu.Unlock()
	return f.keepInfo()
}

// keepInfo is recordInfo for a caller that holds guarded.mu.
func (f *File) keepInfo() error {
	info, err := f.part.Info()
	if err == nil {
		f.guarded.last = info
	}
	return err
}

// untouched returns a *TouchedError if another program may have changed the first size bytes of the file. info is its
// present state.
func (f *File) untouched(info fsys.Info, size int64) (err error) {
	touched := func(what string) error { return &TouchedError{f.Path(), what} }
	if info.Size < size {
		return touched("was cut by another program")
	}
	f.guarded.mu.Lock()
	err = f.guarded.touched
	if err == nil && (f.guarded.early.Load() || f.guarded.guard == nil) {
		err = f.differs(info)
	}
	f.guarded.mu.Unlock()
	if g := f.guarded.guard; err == nil && g != nil {
		switch written, err := g.Written(); {
		case err != nil:
			return err
		case written:
			return touched("was written to by another program")
		case !f.guarded.accepted && g.Hole(size):
			return touched("was cut by another program")
		case !f.guarded.accepted && g.Open():
			return touched("is open in another program")
		}
	}
	return err
}

// same returns a *TouchedError if info differs from the state that braid left.
func (f *File) same(info fsys.Info) error {
	f.guarded.mu.Lock()
	defer f.guarded.mu.Unlock()
	return f.differs(info)
}

// differs is same for a caller that holds guarded.mu.
func (f *File) differs(info fsys.Info) error {
	last := f.guarded.last
	if info.Size != last.Size || !info.ModTime.Equal(last.ModTime) || !info.Changed.Equal(last.Changed) {
		return &TouchedError{f.Path(), "was changed by another program"}
	}
	return nil
}

// Recheck reads all bytes in Have and compares them with their recorded CRC-32C. It voids and returns those that
// differ. No write may run meanwhile. Changes by other programs before Recheck are forgotten; later ones are detected.
func (f *File) Recheck(ctx context.Context) (wrong byterange.Set, err error) {
	if f.temporary() {
		return wrong, nil
	}
	if f.guarded.guard != nil {
		f.guarded.guard.Forget()
	}
	err = f.watch()
	f.guarded.touched = nil
	f.guarded.accepted = true
	if err := errors.Join(err, f.recordInfo(), f.Flush()); err != nil {
		return wrong, err
	}
	f.journal.mu.Lock()
	h, err := readHistory(io.NewSectionReader(f.journal.file, 0, f.journal.size))
	f.journal.mu.Unlock()
	if err != nil {
		return wrong, err
	}
	right, err := matching(ctx, f.part, h.runs)
	if err != nil {
		return wrong, err
	}
	have := f.Have()
	for r := range have.All() {
		for gap := range right.Gaps(r) {
			wrong.Add(gap)
		}
	}
	for r := range wrong.All() {
		f.Revoke(r)
	}
	return wrong, f.Void()
}

// lost handles a sync that failed with err. The system reports such a failure only once: the bytes may never reach the
// disk although they can still be read and the next sync succeeds. So lost records in the journal that all bytes since
// the last successful sync are void.
func (f *File) lost(err error) error {
	f.unsafe.CompareAndSwap(nil, &err)
	f.ledger.revokeUnsynced()
	size := f.journal.length()
	if void := f.Void(); void != nil {
		err = errors.Join(err, void)
		if f.journal.length() == size { // the void record failed, too: drop all records
			err = errors.Join(err, f.journal.file.Truncate(headerSize))
		}
	}
	return err
}
