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

// A custody is what is known of who had the part file in hand.
type custody struct {
	guard    fsys.Guard // nil: the system does not tell
	last     fsys.Info  // as we left it
	accepted bool       // that it may be open elsewhere, or have holes, is known
}

// take begins it. Where the system does not tell what others do, the file is looked at after each write of ours.
func (f *File) take() error {
	if f.hands.guard == nil {
		f.hands.guard, _ = f.part.Guard()
	}
	return f.left()
}

// drop ends it.
func (f *File) drop() {
	if f.hands.guard != nil {
		f.hands.guard.Close()
		f.hands.guard = nil
	}
}

// left takes note of how we leave the file.
func (f *File) left() error {
	info, err := f.part.Info()
	if err != nil {
		return err
	}
	f.hand.Lock()
	defer f.hand.Unlock()
	f.hands.last = info
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
	if g := f.hands.guard; g != nil {
		switch written, err := g.Written(); {
		case err != nil:
			return err
		case written:
			return touched("was written to by another program")
		case !f.hands.accepted && g.Hole(size):
			return touched("was cut by another program")
		case !f.hands.accepted && g.Open():
			return touched("is open in another program")
		}
		return nil
	}
	return f.same(info)
}

// same returns a *TouchedError if the file is not as we left it.
func (f *File) same(info fsys.Info) error {
	f.hand.Lock()
	last := f.hands.last
	f.hand.Unlock()
	if info.Size != last.Size || !info.ModTime.Equal(last.ModTime) || !info.Changed.Equal(last.Changed) {
		return &TouchedError{f.Path(), "was changed by another program"}
	}
	return nil
}

// Recheck reads all that is there and compares it with the CRC-32C of what was written. What differs is void then, and returned.
// Nobody may write meanwhile. What another program did before does not count any more, what it does from now on does.
func (f *File) Recheck(ctx context.Context) (wrong byterange.Set, err error) {
	if f.temporary() {
		return wrong, nil
	}
	if f.hands.guard != nil {
		f.hands.guard.Forget()
	}
	f.hands.accepted = true
	if err := errors.Join(f.left(), f.Flush()); err != nil {
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
