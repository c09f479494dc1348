package partfile

import (
	"context"
	"errors"
	"io"

	"braid/byterange"
	"braid/internal/fsys"
)

// A TouchedError says that another program changed the part file. Its bytes have to be looked at again, see [File.Recheck].
type TouchedError struct {
	Path string
	What string // "was cut by another program", ...
}

func (e *TouchedError) Error() string { return e.Path + ": " + e.What }

// A guardState tells whether another program changed the part file.
type guardState struct {
	guard    fsys.Guard // nil: the system has none
	last     fsys.Info  // as we left it
	accepted bool       // that it may be open elsewhere, or have holes, is known
}

// startGuard begins to watch the part file. Where the system has no guard, the file is compared after each of our writes.
func (f *File) startGuard() error {
	if f.guarded.guard == nil {
		f.guarded.guard, _ = f.part.Guard()
	}
	return f.recordInfo()
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
	info, err := f.part.Info()
	if err != nil {
		return err
	}
	f.guardedMu.Lock()
	defer f.guardedMu.Unlock()
	f.guarded.last = info
	return nil
}

// untouched returns a *TouchedError if another program may have changed the file, of which size bytes are ours.
func (f *File) untouched(size int64) error {
	info, err := f.part.Info()
	if err != nil {
		return err
	}
	touched := func(what string) error { return &TouchedError{f.Path(), what} }
	if info.Size < size {
		return touched("was cut by another program")
	}
	if g := f.guarded.guard; g != nil {
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
		return nil
	}
	return f.same(info)
}

// same returns a *TouchedError if the file is not as we left it.
func (f *File) same(info fsys.Info) error {
	f.guardedMu.Lock()
	last := f.guarded.last
	f.guardedMu.Unlock()
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
	f.guarded.accepted = true
	if err := errors.Join(f.recordInfo(), f.Flush()); err != nil {
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

// lost takes note of a sync that failed with err. The system tells that once: bytes that were to be put on disk may never be there,
// although they can be read until it stops, and the next sync succeeds. So the journal says that they are void; what an earlier
// sync put on disk stays.
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
