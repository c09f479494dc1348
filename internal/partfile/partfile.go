// Package partfile owns the bytes of an unfinished download: NAME.part and NAME.part.journal in the folder of NAME.
//
// Each byte is written once, by the first writer that has it, unless it is found wrong and voided. The journal lists
// the ranges that were written, with their CRC-32C. So a later run of the program can continue after a kill, a loss of
// power or a flipped bit: bytes with another CRC are treated as missing. Only [File.Commit] gives the file its final
// name, and it requires a [verify.Proof].
//
// The package does not decide which bytes to fetch, whether bytes are right, or whether the bytes of an earlier run are
// of use. It has no goroutine and no clock: its user calls Flush about every 50 ms, and Sync every few seconds.
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

	"braid/byterange"
	"braid/internal/fsys"
)

// File holds the bytes of an unfinished download. WriteAt, WriteWhile, ReadAt, Have, Front, WaitFront, Revoke, Void,
// Flush and Sync are safe for concurrent use. The other methods must not run at the same time as these. The exception
// is Close, which makes WaitFront return and WriteAt fail.
type File struct {
	store   *store
	asides  asides
	useless string // why the bytes of an earlier run will be set aside; given to Reset
	kept    int64  // set by Close
	keptAt  string
}

// Path returns the path of the part file, or an empty string for a temporary file.
func (f *File) Path() string { return f.store.part.path }

// IDOf returns the ID of the part file of f. The file keeps it when Commit renames it.
func IDOf(f *File) fsys.ID { return f.store.part.recorded().ID }

// Aside describes the files that Open or Reset set aside, and why. It is empty if no files were set aside.
func (f *File) Aside() string { return f.asides.told }

// SetAside returns the paths of the files that downloads to the name of f set aside and that still exist. It must be
// called before Close, Commit and Discard.
func SetAside(f *File) []string { return f.asides.paths() }

// Begin records the identity of the file and allows writes. It may be called again when more is known about the same
// file.
func (f *File) Begin(id Identity) error {
	if err := f.MakeWay(); err != nil {
		return err
	}
	switch f.store.ledger.now() {
	case inherited:
		return f.store.undecided()
	case closed:
		return f.store.closedError("begin")
	}
	if !f.store.temporary() {
		id.asides = f.asides.list()
		if err := f.store.journal.record(id); err != nil {
			return err
		}
	}
	f.store.ledger.enter(writing)
	return nil
}

// Amend changes the recorded identity, even if an earlier run recorded it and the bytes of that run are not used. It
// does nothing if the journal's key has not sealed that identity.
func (f *File) Amend(change func(*Identity)) error {
	if f.store.temporary() {
		return nil
	}
	return f.store.journal.amend(change)
}

// WriteAt writes the bytes of p that were not written yet, and returns their number. The other bytes count as
// duplicates, even if their writer has not finished. After an error WriteAt may be called again.
func (f *File) WriteAt(p []byte, off int64) (fresh int, err error) {
	return f.WriteWhile(p, off, func() bool { return true }, new(byterange.Set))
}

// ErrStopped is returned by WriteWhile after its writer was stopped.
var ErrStopped = errors.New("the writer was stopped")

// WriteWhile is WriteAt for a writer that can be stopped. It fails with ErrStopped as soon as may returns false before
// a write begins. may is called with a lock held. So after a writer was stopped, its bytes can be revoked, and no byte
// of that writer arrives later. The ranges that another writer has already claimed are added to theirs.
func (f *File) WriteWhile(p []byte, off int64, may func() bool, theirs *byterange.Set) (fresh int, err error) {
	return f.store.write(p, off, may, theirs)
}

// ReadAt reads from the part file through the descriptor that wrote it. It does not check that the bytes are in Have.
// If the file ends before len(p) bytes, the error is a *TouchedError.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.store.part.ReadAt(p, off)
	if err == io.EOF && !f.store.temporary() {
		err = &TouchedError{f.Path(), "was truncated by another program"}
	}
	return n, err
}

// Have returns the bytes that were written.
func (f *File) Have() byterange.Set { return f.store.ledger.have() }

// Front returns the offset of the first missing byte.
func (f *File) Front() int64 {
	front, _, _ := f.store.ledger.frontBeyond(-1)
	return front
}

// WaitFront blocks until Front is beyond past, and returns Front. If ctx is done first, it returns the error of ctx. If
// f is closed, the error is fs.ErrClosed.
func (f *File) WaitFront(ctx context.Context, past int64) (front int64, err error) {
	for {
		front, moved, phase := f.store.ledger.frontBeyond(past)
		switch {
		case phase == closed:
			return front, f.store.closedError("wait")
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
// of r are void. WriteAt blocks for bytes of r until the caller calls Void, which the caller must do next. Revoke
// itself does not block.
func (f *File) Revoke(r byterange.Range) {
	if !r.Empty() {
		f.store.ledger.revoke(r)
	}
}

// Void records all revoked ranges as void and syncs the journal. It first waits for pending writes to these ranges.
func (f *File) Void() error { return f.store.void() }

// Flush records in the journal the bytes that were written since the last record. WriteAt itself does so for each
// contiguous MiB.
func (f *File) Flush() error { return f.store.flush() }

// Sync syncs the written bytes, then the journal. The first Sync also syncs the names of both files. Sync can take
// seconds.
func (f *File) Sync() error { return f.store.sync() }

// Recheck reads all bytes in Have and compares them with their recorded CRC-32C. It voids and returns the bytes that
// differ. No write may run meanwhile. Changes by other programs before Recheck are forgotten; later changes are
// detected.
func (f *File) Recheck(ctx context.Context) (wrong byterange.Set, err error) {
	return f.store.recheck(ctx)
}

// Allocated reports whether size bytes are allocated to the part file on disk, so that other files cannot use the
// space.
func (f *File) Allocated(size int64) (bool, error) {
	info, err := f.store.part.Info()
	return info.Allocated >= size, err
}

// CheckRoom returns a *SpaceError if the file system does not have n free bytes beside the part file.
func (f *File) CheckRoom(n int64) error {
	free, err := f.store.part.Free()
	if err != nil || free < 0 || n <= free { // unknown, or enough
		return err
	}
	return &SpaceError{Path: f.store.part.Name(), Need: n, Free: free}
}

// CheckSpace returns a *SpaceError if the file system has too few free bytes for the rest of a file of size bytes.
// Space that the part file already occupies counts as free.
func (f *File) CheckSpace(size int64) error {
	free, err := f.store.part.Free()
	if err != nil || free < 0 || size <= free { // unknown, or enough
		return err
	}
	info, err := f.store.part.Info()
	if err != nil {
		return err
	}
	have := f.Have()
	if need := size - max(have.Len(), info.Allocated); need > free {
		return &SpaceError{Path: f.store.part.Name(), Need: need, Free: free}
	}
	return nil
}

// Preallocate reserves space for size bytes without changing the length of the file. It does nothing on a file system
// that cannot reserve space; a full file system is an error. It may be called during writes.
func (f *File) Preallocate(size int64) error {
	if size <= 0 {
		return nil
	}
	if f.store.temporary() {
		return f.store.part.Reserve(size)
	}
	if err := f.store.part.watch(); err != nil {
		return err
	}
	return errors.Join(f.store.part.Reserve(size), f.store.part.record())
}

// Skip marks the first size bytes, which are stored elsewhere, as written. It is for temporary files only.
func (f *File) Skip(size int64) { f.store.skip(size) }

// Release returns the blocks below off to the file system, because their bytes have been written to a pipe. These bytes
// read as zero afterwards. It is for temporary files only.
func (f *File) Release(off int64) error {
	if !f.store.temporary() {
		return &StateError{f.Path(), "is not a temporary file"}
	}
	return f.store.free(off)
}
