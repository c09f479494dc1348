// Package partfile owns the bytes of an unfinished download: NAME.part and NAME.part.journal in the folder
// where NAME will be.
//
// Each byte is written once, by the first writer that brings it, until it is found wrong and voided. The journal
// says which bytes are there, with a CRC-32C of each run of them, so that the next run can go on after a
// kill, a loss of power or a flipped bit: what does not have its CRC is missing. Only [File.Commit] gives
// the file its final name, and it wants a [verify.Proof].
//
// The package decides nothing: not what to fetch, not whether the bytes are the right ones, not whether
// those of an earlier run are of use. It has no goroutine and no clock:
// its user calls Flush every 50 ms or so, and Sync every few seconds.
//
//	f, err := partfile.Open(nil, dir, "x.iso")
//	if err != nil {
//		return err
//	}
//	defer f.Close() // keeps what is there
//	if prior, ok := f.Prior(); ok {
//		if prior.URLSum != id.URLSum {
//			err = f.Reset("it is of another file")
//		} else {
//			err = f.Recover(ctx)
//		}
//		...
//	}
//	err = f.Begin(id)
//	...
//	fresh, err := f.WriteAt(p, off)
//	...
//	err = f.Commit(proof, partfile.Final{})
package partfile

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"sync"
	"sync/atomic"
	"syscall"

	"braid/byterange"
	"braid/internal/fsys"
)

// A File is the bytes of an unfinished download. WriteAt, WriteWhile, ReadAt, Have, Front, WaitFront, Revoke, Void, Flush and
// Sync may be called by several goroutines at once; the other methods only while none of these runs, and
// Close also then: it makes WaitFront return and WriteAt fail.
type File struct {
	folder  folder
	name    string // final name in folder; empty for a temporary file
	part    fsys.File
	journal *journal // nil for a temporary file
	ledger  *ledger
	prior   history // while inherited
	key     *Key
	urlSum  string // of what was begun
	aside   string
	before  oldAsides
	asides  []ownAside // what this run set aside
	freed   int64      // blocks below were given back by Release
	kept    int64      // by Close
	keptAt  string

	// unsafe is the first error of Sync. The system tells of a failed write only once, so a later fsync that
	// succeeds proves nothing about the bytes before.
	unsafe atomic.Pointer[error]
	named  atomic.Bool // the names of both files are on disk

	voiding sync.Mutex // one Void at a time
	syncing sync.Mutex // one Sync at a time

	guarded guardState
}

// Path is where the part file is, and empty for a temporary file.
func (f *File) Path() string {
	if f.temporary() {
		return ""
	}
	return f.folder.join(f.partName())
}

func (f *File) temporary() bool { return f.journal == nil }

func (f *File) partName() string    { return f.name + partEnding }
func (f *File) journalName() string { return f.name + journalEnding }

// Aside says what was found and set aside by Open or Reset, and why. It is empty if nothing was.
func (f *File) Aside() string { return f.aside }

// Begin records what is being downloaded. From then on bytes can be written. It is called again when more
// has been learned about the same file.
func (f *File) Begin(id Identity) error {
	switch f.ledger.now() {
	case inherited:
		return f.undecided()
	case closed:
		return f.closedError("begin")
	}
	if !f.temporary() {
		f.urlSum, id.asides = id.URLSum, f.ownAsides()
		payload, err := id.encode()
		if err != nil {
			return err
		}
		if err := f.journal.begin(f.key.sealed(f.name, payload)); err != nil {
			return err
		}
	}
	f.ledger.enter(writing)
	return nil
}

// WriteAt writes the bytes of p that were not written yet, and returns how many these were. The others are
// duplicates, also if their writer is not done yet. If there is an error, it may be called again.
func (f *File) WriteAt(p []byte, off int64) (fresh int, err error) {
	return f.WriteWhile(p, off, func() bool { return true }, new(byterange.Set))
}

// ErrStopped says that the writer was stopped.
var ErrStopped = errors.New("the writer was stopped")

// WriteWhile is WriteAt for a writer that may be stopped: it fails with ErrStopped where it would begin to write while
// may reports false, which is asked with a lock held. So what the writer was to write can be revoked after it was
// stopped, and none of it comes later. What it does not write, since another writer was there before, is added to
// theirs.
func (f *File) WriteWhile(p []byte, off int64, may func() bool, theirs *byterange.Set) (fresh int, err error) {
	if off < 0 || off > math.MaxInt64-int64(len(p)) {
		return 0, &fs.PathError{Op: "write", Path: f.part.Name(), Err: syscall.EINVAL}
	}
	rest := byterange.Range{Start: off, End: off + int64(len(p))}
	for !rest.Empty() {
		gap, phase := f.ledger.claim(rest, may)
		if phase != writing {
			return fresh, f.notWriting(phase)
		}
		if gap.Empty() {
			if !may() {
				return fresh, ErrStopped
			}
			theirs.Add(rest)
			break
		}
		if gap.Start > rest.Start {
			theirs.Add(byterange.Range{Start: rest.Start, End: gap.Start})
		}
		n, err := f.fill(gap, p[gap.Start-off:gap.End-off])
		fresh += n
		if err != nil {
			return fresh, err
		}
		rest.Start = gap.End
	}
	return fresh, nil
}

// fill writes p to gap, which the caller has claimed.
func (f *File) fill(gap byterange.Range, p []byte) (n int, err error) {
	n, err = f.put(p, gap.Start)
	w := run{byterange.Range{Start: gap.Start, End: gap.Start + int64(n)}, checksum(p[:n])}
	if due := f.ledger.endClaim(gap, w); due && err == nil {
		err = f.journal.flush(f.ledger, runSize)
	}
	return n, err
}

func (f *File) notWriting(p phase) error {
	if p == closed {
		return f.closedError("write")
	}
	return &StateError{f.Path(), "written to before Begin"}
}

func (f *File) undecided() error {
	return &StateError{f.Path(), "the bytes of an earlier run are neither taken over nor set aside"}
}

func (f *File) closedError(op string) error {
	return &fs.PathError{Op: op, Path: f.part.Name(), Err: fs.ErrClosed}
}

// ReadAt reads what is on disk, through the descriptor that wrote it. It is for the caller to know
// which of it is in Have. If that is not there, the error is a *TouchedError.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.part.ReadAt(p, off)
	if err == io.EOF && !f.temporary() {
		err = &TouchedError{f.Path(), "was cut by another program"}
	}
	return n, err
}

// Have is which bytes are there.
func (f *File) Have() byterange.Set { return f.ledger.have() }

// Front is the first byte that is not there.
func (f *File) Front() int64 {
	front, _, _ := f.ledger.frontBeyond(-1)
	return front
}

// WaitFront waits until Front is beyond past, and returns it. If ctx ends first, the error is that of ctx;
// if f is closed, it is fs.ErrClosed.
func (f *File) WaitFront(ctx context.Context, past int64) (front int64, err error) {
	for {
		front, moved, phase := f.ledger.frontBeyond(past)
		switch {
		case phase == closed:
			return front, f.closedError("wait")
		case moved == nil:
			return front, nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return front, ctx.Err()
		}
	}
}

// Revoke takes r out of Have because its bytes turned out wrong. Front may become less; a verdict about bytes of r is void too.
// They can be written again after Void, which must follow: WriteAt waits for that. Revoke itself waits for nothing.
func (f *File) Revoke(r byterange.Range) {
	if !r.Empty() {
		f.ledger.revoke(r)
	}
}

// Void records that all is void that was revoked. It waits for writes that are under way there. When it returns, it is on disk.
func (f *File) Void() error {
	f.voiding.Lock()
	defer f.voiding.Unlock()
	ranges := f.ledger.revoked()
	defer f.ledger.release(ranges)
	switch {
	case f.ledger.now() == inherited:
		return f.undecided()
	case f.ledger.now() == closed:
		return f.closedError("void")
	case f.temporary() || ranges.Count() == 0:
		return nil
	}
	return f.journal.void(f.ledger, f.part, ranges)
}

// Flush records in the journal what was written and is not recorded yet. WriteAt does so itself for each
// MiB that comes in one piece.
func (f *File) Flush() error {
	if f.temporary() {
		return nil
	}
	if err := f.watch(); err != nil {
		return err
	}
	return f.journal.flush(f.ledger, 0)
}

// Sync puts on disk what was written, then the journal that says so and, the first time, the names of both. That can take
// seconds.
func (f *File) Sync() error {
	if f.temporary() {
		return nil
	}
	if err := f.Flush(); err != nil {
		return err
	}
	f.syncing.Lock()
	defer f.syncing.Unlock()
	f.ledger.beginSync()
	if err := f.part.Datasync(); err != nil {
		return f.lost(err)
	}
	f.ledger.endSync()
	if err := f.journal.file.Datasync(); err != nil || f.named.Load() {
		return err
	}
	if err := f.folder.dir.Sync(); err != nil {
		return err
	}
	f.named.Store(true)
	return nil
}

// Allocated reports whether there is room on disk for size bytes, whatever else is written.
func (f *File) Allocated(size int64) (bool, error) {
	info, err := f.part.Info()
	return info.Allocated >= size, err
}

// CheckRoom returns a *SpaceError if the file system has no room for n bytes beside the part file.
func (f *File) CheckRoom(n int64) error {
	free, err := f.part.Free()
	if err != nil || free < 0 || n <= free { // it does not say, or there is
		return err
	}
	return &SpaceError{Path: f.part.Name(), Need: n, Free: free}
}

// CheckSpace returns a *SpaceError if the file system has no room for the rest of a file of size bytes.
// What the part file occupies already counts as there.
func (f *File) CheckSpace(size int64) error {
	free, err := f.part.Free()
	if err != nil || free < 0 || size <= free { // it does not say, or there is
		return err
	}
	info, err := f.part.Info()
	if err != nil {
		return err
	}
	have := f.Have()
	if need := size - max(have.Len(), info.Allocated); need > free {
		return &SpaceError{Path: f.part.Name(), Need: need, Free: free}
	}
	return nil
}

// Preallocate reserves room for size bytes and leaves the length of the file as it is. A file system that
// cannot do that is left alone; a full one is an error. It
// may be called while others write.
func (f *File) Preallocate(size int64) error {
	if size <= 0 {
		return nil
	}
	if f.temporary() {
		return f.part.Reserve(size)
	}
	if err := f.watch(); err != nil {
		return err
	}
	return errors.Join(f.part.Reserve(size), f.recordInfo())
}

// Skip says that the first size bytes were written, and lie elsewhere. It is for temporary files only.
func (f *File) Skip(size int64) {
	f.freed = size
	f.ledger.restore(byterange.Range{End: size})
}

// Release gives the blocks below off back to the file system: a pipe has taken these bytes. They read as
// zero then. It is for temporary files only.
func (f *File) Release(off int64) error {
	if !f.temporary() {
		return &StateError{f.Path(), "is not a temporary file"}
	}
	from := f.freed
	if off <= from {
		return nil
	}
	f.freed = off
	return f.part.Release(from, off-from)
}
