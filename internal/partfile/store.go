package partfile

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"sync"
	"sync/atomic"
	"syscall"

	"braid/byterange"
)

// A store holds the bytes of a file: the part file, the journal of the written bytes, and the ledger of the bytes that
// are being written. It does not know which file the bytes belong to.
type store struct {
	at      place // zero for a temporary file
	part    *guarded
	journal *journal // nil for a temporary file
	ledger  *ledger
	prior   history // content of the inherited journal, while the phase is inherited
	freed   int64   // the blocks below this offset were returned to the file system

	// unsafe is the first error of a sync. The system reports a failed write only once, so a later fsync that succeeds
	// proves nothing about the earlier bytes.
	unsafe atomic.Pointer[error]
	named  atomic.Bool // the names of both files are on disk

	voiding sync.Mutex // held by void
	syncing sync.Mutex // held while the part file is synced
}

func (s *store) temporary() bool { return s.journal == nil }

// check checks that the file has a name and is open.
func (s *store) check(op string) error {
	switch {
	case s.ledger.now() == closed:
		return s.closedError(op)
	case s.temporary():
		return &StateError{s.part.Name(), "a temporary file has no name"}
	}
	return nil
}

func (s *store) closedError(op string) error {
	return &fs.PathError{Op: op, Path: s.part.Name(), Err: fs.ErrClosed}
}

func (s *store) undecided() error {
	return &StateError{s.part.path, "the bytes of an earlier run are neither kept nor set aside"}
}

// inherit keeps the journal of an earlier run, without its torn tail. h is the content of that journal.
func (s *store) inherit(h history) error {
	if err := s.journal.file.Truncate(h.size); err != nil {
		return err
	}
	s.journal.size, s.journal.identity = h.size, h.payload
	s.prior = h
	s.ledger.enter(inherited)
	return errors.Join(s.part.Chmod(0o600), s.part.record())
}

// recover takes over the inherited bytes that have the CRC-32C of the journal.
func (s *store) recover(ctx context.Context) error {
	right, err := matching(ctx, s.part, s.prior.runs)
	if err != nil {
		return err
	}
	for r := range right.All() {
		s.ledger.restore(r)
	}
	s.prior = history{}
	s.ledger.enter(idle)
	return nil
}

// empty empties both files and forgets earlier runs. list is the list of files set aside, as the payload of an
// identity, or nil. The journal keeps list.
func (s *store) empty(list []byte) error {
	if err := s.part.Truncate(0); err != nil {
		return err
	}
	if err := s.part.Chmod(0o600); err != nil {
		return err
	}
	s.prior = history{}
	s.ledger.clear(idle)
	if err := s.part.record(); err != nil {
		return err
	}
	return s.journal.restart(list)
}

// renew begins a new part file, because the previous part file was renamed.
func (s *store) renew() (err error) {
	s.part.stop()
	s.named.Store(false)
	if s.part.File, _, err = s.at.openOurs(s.at.part()); err != nil {
		return err
	}
	return s.part.start(s.part.File, true)
}

// write writes the bytes of p that were not written yet; see [File.WriteWhile].
func (s *store) write(p []byte, off int64, may func() bool, theirs *byterange.Set) (fresh int, err error) {
	if off < 0 || off > math.MaxInt64-int64(len(p)) {
		return 0, &fs.PathError{Op: "write", Path: s.part.Name(), Err: syscall.EINVAL}
	}
	rest := byterange.Range{Start: off, End: off + int64(len(p))}
	for !rest.Empty() {
		gap, phase := s.ledger.claim(rest, may)
		switch phase {
		case writing:
		case closed:
			return fresh, s.closedError("write")
		default:
			return fresh, &StateError{s.part.path, "written to before Begin"}
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
		n, err := s.fill(gap, p[gap.Start-off:gap.End-off])
		fresh += n
		if err != nil {
			return fresh, err
		}
		rest.Start = gap.End
	}
	return fresh, nil
}

// fill writes p to gap, which the caller has claimed.
func (s *store) fill(gap byterange.Range, p []byte) (n int, err error) {
	n, err = s.part.put(p, gap.Start)
	w := run{byterange.Range{Start: gap.Start, End: gap.Start + int64(n)}, checksum(p[:n])}
	if due := s.ledger.endClaim(gap, w); due && err == nil {
		err = s.journal.flush(s.ledger, runSize)
	}
	return n, err
}

// void records the revoked ranges as void; see [File.Void].
func (s *store) void() error {
	s.voiding.Lock()
	defer s.voiding.Unlock()
	ranges := s.ledger.revoked()
	defer s.ledger.release(ranges)
	switch {
	case s.ledger.now() == inherited:
		return s.undecided()
	case s.ledger.now() == closed:
		return s.closedError("void")
	case s.temporary() || ranges.Count() == 0:
		return nil
	}
	return s.journal.void(s.ledger, s.part, ranges)
}

// flush records the bytes that were written since the last record.
func (s *store) flush() error {
	if s.temporary() {
		return nil
	}
	if err := s.part.watch(); err != nil {
		return err
	}
	return s.journal.flush(s.ledger, 0)
}

// sync syncs the written bytes, then the journal and, the first time, the names of both files.
func (s *store) sync() error {
	if s.temporary() {
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.syncing.Lock()
	defer s.syncing.Unlock()
	if err := s.syncPart(s.part.Datasync); err != nil {
		return err
	}
	if err := s.journal.file.Datasync(); err != nil || s.named.Load() {
		return err
	}
	if err := s.at.dir.Sync(); err != nil {
		return err
	}
	s.named.Store(true)
	return nil
}

// syncPart syncs the written bytes by calling how. The caller holds syncing.
func (s *store) syncPart(how func() error) error {
	s.ledger.beginSync()
	if err := how(); err != nil {
		return s.lost(err)
	}
	s.ledger.endSync()
	return nil
}

// lost handles a sync that failed with err. The system reports such a failure only once: the bytes may never reach the
// disk, although they can still be read and the next sync succeeds. So lost records in the journal that all bytes
// written since the last successful sync are void.
func (s *store) lost(err error) error {
	s.unsafe.CompareAndSwap(nil, &err)
	s.ledger.revokeUnsynced()
	size := s.journal.length()
	if void := s.void(); void != nil {
		err = errors.Join(err, void)
		if s.journal.length() == size { // the void record failed, too: drop all records
			err = errors.Join(err, s.journal.file.Truncate(headerSize))
		}
	}
	return err
}

// recheck reads all written bytes, and voids and returns the bytes that differ from the journal; see [File.Recheck].
func (s *store) recheck(ctx context.Context) (wrong byterange.Set, err error) {
	if s.temporary() {
		return wrong, nil
	}
	if err := errors.Join(s.part.accept(), s.flush()); err != nil {
		return wrong, err
	}
	h, err := s.journal.history()
	if err != nil {
		return wrong, err
	}
	right, err := matching(ctx, s.part, h.runs)
	if err != nil {
		return wrong, err
	}
	have := s.ledger.have()
	for r := range have.All() {
		for gap := range right.Gaps(r) {
			wrong.Add(gap)
		}
	}
	for r := range wrong.All() {
		s.ledger.revoke(r)
	}
	return wrong, s.void()
}

// discard removes the part file. It also removes the journal, unless list is not nil: then a journal remains that
// contains only list, the list of files set aside.
func (s *store) discard(list []byte) error {
	if list != nil {
		s.ledger.clear(idle)
	}
	err := s.at.remove(s.at.part())
	// The journal is the lock, so it is removed last. Until then no other process can begin a new part file.
	switch {
	case err != nil:
	case list != nil:
		err = s.journal.restart(list)
	default:
		err = s.at.remove(s.at.journal())
	}
	return errors.Join(err, s.release())
}

// release closes all open files.
func (s *store) release() (err error) {
	s.ledger.enter(closed)
	if s.part.File != nil {
		err = s.part.stop()
	}
	if s.journal != nil && s.journal.file != nil {
		err = errors.Join(err, s.journal.file.Close())
	}
	if s.at.dir != nil {
		err = errors.Join(err, s.at.close())
	}
	return err
}

// skip marks the first size bytes, which are stored elsewhere, as written.
func (s *store) skip(size int64) {
	s.freed = size
	s.ledger.restore(byterange.Range{End: size})
}

// free returns the blocks below off to the file system.
func (s *store) free(off int64) error {
	from := s.freed
	if off <= from {
		return nil
	}
	s.freed = off
	return s.part.Release(from, off-from)
}
