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

// A TouchedError says that another program changed the part file. Its bytes have to be looked at again, see [File.Recheck].
type TouchedError struct {
	Path string
	What string // "was cut by another program", ...
}

func (e *TouchedError) Error() string { return e.Path + ": " + e.What }

// A guardState tells whether another program changed the part file. Until the guard watches, and where the system has
// none, its size and times are compared with how we left it.
//
// To end a watch takes the system longer than to download a small file. So a new file, which no other program can have
// open yet, is watched only once it has watchedSize bytes, or when it lasts until a Flush.
type guardState struct {
	guard    fsys.Guard  // nil: the system has none
	accepted bool        // that it may be open elsewhere, or have holes, is known
	early    atomic.Bool // it is not watched yet

	mu      sync.Mutex
	written int64     // bytes, as long as it is early; they are written one after the other
	last    fsys.Info // as we left it
	touched error     // what was found as long as it was early, or why nothing could be
}

const watchedSize = 1 << 20

// startGuard begins to guard the part file. One that is not new is watched at once.
func (f *File) startGuard(isNew bool) error {
	f.guarded.guard, _ = f.part.Guard()
	f.guarded.early.Store(true)
	if err := f.recordInfo(); err != nil || isNew {
		return err
	}
	return f.watch()
}

// watch ends the time without a watch. Where the system has none, the file is compared after each of our writes from now on.
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

// compare keeps in mind that the file is not as we left it, or that this cannot be told. The caller holds guarded.mu.
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

// putEarly writes p as long as the file is not watched.
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

// recordInfo records the state in which we leave the file.
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

// untouched returns a *TouchedError if another program may have changed the file, of which size bytes are ours. Info is of now.
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

// same returns a *TouchedError if the file is not as we left it.
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

// Recheck reads all that is there and compares it with the CRC-32C of what was written. What differs is void then, and returned.
// There must be no write meanwhile. What another program did before does not count any more, what it does from now on does.
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

// lost takes note of a sync that failed with err. The system tells that once: bytes that were to be put on disk may
// never be there, although they can be read until it stops, and the next sync succeeds. So the journal says that they
// are void; what an earlier sync put on disk stays.
func (f *File) lost(err error) error {
	f.unsafe.CompareAndSwap(nil, &err)
	f.ledger.revokeUnsynced()
	size := f.journal.length()
	if void := f.Void(); void != nil {
		err = errors.Join(err, void)
		if f.journal.length() == size { // not even that can be said: then nothing is
			err = errors.Join(err, f.journal.file.Truncate(headerSize))
		}
	}
	return err
}
