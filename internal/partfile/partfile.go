// Package partfile owns the bytes of an unfinished download: NAME.part and NAME.part.journal in the folder of NAME.
//
// Each byte is written once, by the first writer that has it, unless it is found wrong and voided. The journal lists
// the bytes that were written, with a CRC-32C for each run of them, so that the next run can continue after a kill, a
// loss of power or a flipped bit: bytes with another CRC count as missing. Only [File.Commit] gives the file its final
// name, and it requires a [verify.Proof].
//
// The package makes no decisions about what to fetch, whether the bytes are right, or whether those of an earlier run
// are of use. It has no goroutine and no clock: its user calls Flush about every 50 ms, and Sync every few seconds.
//
//	f, err := partfile.Open(nil, dir, "x.iso")
//	if err != nil {
//		return err
//	}
//	defer f.Close() // keeps the bytes
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

// File holds the bytes of an unfinished download. WriteAt, WriteWhile, ReadAt, Have, Front, WaitFront, Revoke, Void,
// Flush and Sync are safe for concurrent use. The other methods must not run at the same time as these, except Close,
// which makes WaitFront return and WriteAt fail.
type File struct {
	folder  folder
	name    string // final name in folder; empty for a temporary file
	part    fsys.File
	journal *journal // nil for a temporary file
	ledger  *ledger
	prior   history // while inherited
	key     *Key
	urlSum  string // URLSum given to Begin
	aside   string
	useless string // why the bytes of an earlier run are to be set aside; given to Reset
	before  oldAsides
	asides  []ownAside // set aside by this run
	freed   int64      // Release gave back the blocks below this offset
	kept    int64      // set by Close
	keptAt  string

	// unsafe is the first error of Sync. The system reports a failed write only once, so a later fsync that succeeds
	// proves nothing about the earlier bytes.
	unsafe atomic.Pointer[error]
	named  atomic.Bool // the names of both files are on disk

	voiding sync.Mutex // held by Void
	syncing sync.Mutex // held by Sync

	guarded guardState
}

// Path returns the path of the part file, or an empty string for a temporary file.
func (f *File) Path() string {
	if f.temporary() {
		return ""
	}
	return f.folder.join(f.partName())
}

func (f *File) temporary() bool { return f.journal == nil }

func (f *File) partName() string    { return f.name + partEnding }
func (f *File) journalName() string { return f.name + journalEnding }

// Aside describes the files that Open or Reset set aside, and why. It is empty if there are none.
func (f *File) Aside() string { return f.aside }

// Begin records the identity of the file and allows writes. It may be called again when more is known about the same
// file.
func (f *File) Begin(id Identity) error {
	if err := f.MakeWay(); err != nil {
		return err
	}
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

// Amend changes the recorded identity of the bytes here, also of those of an earlier run, whatever became of them. It does
// nothing if the key has not sealed that record.
func (f *File) Amend(change func(*Identity)) error {
	if f.temporary() || !f.key.fits(f.name, f.journal.identity) {
		return nil
	}
	id, err := decodeIdentity(f.journal.identity)
	if err != nil {
		return err
	}
	change(&id)
	payload, err := id.encode()
	if err != nil {
		return err
	}
	return f.journal.begin(f.key.sealed(f.name, payload))
}

// WriteAt writes those bytes of p that were not written yet, and returns their number. The other bytes count as
// duplicates, even if their writer has not finished. After an error WriteAt may be called again.
func (f *File) WriteAt(p []byte, off int64) (fresh int, err error) {
	return f.WriteWhile(p, off, func() bool { return true }, new(byterange.Set))
}

// ErrStopped is returned by WriteWhile when its writer was stopped.
var ErrStopped = errors.New("the writer was stopped")

// WriteWhile is WriteAt for a writer that can be stopped. It fails with ErrStopped as soon as may returns false before
// a write begins. may is called with a lock held, so after a writer was stopped, its bytes can be revoked and none of
// them arrive later. The ranges that another writer has already claimed are added to theirs.
func (f *File) WriteWhile(p []byte, off int64, may func() bool, theirs *byterange.Set) (fresh int, err error) {
	if off < 0 || off > math.MaxInt64-int64(len(p)) {
		return 0, &fs.PathError{Op: "write", Path: f.part.Name(), Err: syscall.EINVAL}
	}
	rest := byterange.Range{Start: off, End: off + int64(len(p))}
	for !rest.Empty() {
		gap, phase := f.ledger.claim(rest, may)
		switch phase {
		case writing:
		case closed:
			return fresh, f.closedError("write")
		default:
			return fresh, &StateError{f.Path(), "written to before Begin"}
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

func (f *File) undecided() error {
	return &StateError{f.Path(), "the bytes of an earlier run are neither taken over nor set aside"}
}

func (f *File) closedError(op string) error {
	return &fs.PathError{Op: op, Path: f.part.Name(), Err: fs.ErrClosed}
}

// ReadAt reads from the part file through the descriptor that wrote it. It does not check that the bytes are in Have.
// If the file is shorter than that, the error is a *TouchedError.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.part.ReadAt(p, off)
	if err == io.EOF && !f.temporary() {
		err = &TouchedError{f.Path(), "was cut by another program"}
	}
	return n, err
}

// Have returns the bytes that were written.
func (f *File) Have() byterange.Set { return f.ledger.have() }

// Front returns the offset of the first missing byte.
func (f *File) Front() int64 {
	front, _, _ := f.ledger.frontBeyond(-1)
	return front
}

// WaitFront blocks until Front is beyond past, and returns it. If ctx ends first, it returns the error of ctx. If f is
// closed, the error is fs.ErrClosed.
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

// Revoke removes r from Have because its bytes turned out wrong. Front may decrease, and earlier verdicts about bytes
// of r are void. WriteAt blocks for bytes of r until Void, which the caller must call next. Revoke itself does not
// block.
func (f *File) Revoke(r byterange.Range) {
	if !r.Empty() {
		f.ledger.revoke(r)
	}
}

// Void records all revoked ranges as void and syncs the journal. It first waits for pending writes to these ranges.
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

// Flush records in the journal the bytes that were written since. WriteAt does so itself for each contiguous MiB.
func (f *File) Flush() error {
	if f.temporary() {
		return nil
	}
	if err := f.watch(); err != nil {
		return err
	}
	return f.journal.flush(f.ledger, 0)
}

// Sync syncs the written bytes, then the journal and, the first time, the names of both files. That can take seconds.
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

// Allocated reports whether size bytes are allocated to the part file on disk, so that other files cannot use the
// space.
func (f *File) Allocated(size int64) (bool, error) {
	info, err := f.part.Info()
	return info.Allocated >= size, err
}

// CheckRoom returns a *SpaceError if the file system has no room for n bytes beside the part file.
func (f *File) CheckRoom(n int64) error {
	free, err := f.part.Free()
	if err != nil || free < 0 || n <= free { // unknown, or enough
		return err
	}
	return &SpaceError{Path: f.part.Name(), Need: n, Free: free}
}

// CheckSpace returns a *SpaceError if the file system has no room for the rest of a file of size bytes. Space that the
// part file already occupies counts as available.
func (f *File) CheckSpace(size int64) error {
	free, err := f.part.Free()
	if err != nil || free < 0 || size <= free { // unknown, or enough
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

// Preallocate reserves room for size bytes without changing the length of the file. It does nothing on a file system
// that cannot reserve; a full file system is an error. It may be called during writes.
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

// Skip marks the first size bytes as written; they are stored elsewhere. It is for temporary files only.
func (f *File) Skip(size int64) {
	f.freed = size
	f.ledger.restore(byterange.Range{End: size})
}

// Release returns the blocks below off to the file system, because their bytes have been written to a pipe. They read
// as zero afterwards. It is for temporary files only.
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
