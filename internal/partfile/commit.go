package partfile

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"braid/byterange"
	"braid/internal/fsys"
	"braid/verify"
)

// Final describes how a part file gets its final name.
type Final struct {
	// Replace allows Commit to replace an ordinary file with the final name. If false, such a file stays and the error
	// is fs.ErrExist, even if the file appeared at the last moment.
	Replace bool
	// Mode is the permission bits of the file. If zero, they are 0666 without the bits of the umask.
	Mode fs.FileMode
	// ModTime is the modification time of the file. If zero, the file keeps the time of its last write.
	ModTime time.Time
	// Due keeps the journal, with a note that work on the file remains, until [Committed.Clear] removes it.
	Due bool
}

// Commit renames the part file to its final name, syncs it and closes f. The proof p states that all bytes of the file
// were read, and which digests they match. The caller decides whether that proof is enough.
//
// After an error the final name is unchanged and f can still be used, with two exceptions in which the file is in
// place: the folder could not be synced, or the error is a *MovedError, whose Now is the path of the file.
func (f *File) Commit(p verify.Proof, final Final) error {
	s := f.store
	if err := s.proven(p); err != nil {
		return err
	}
	info, err := s.at.check(s.part)
	if err != nil {
		return err
	}
	if err := s.part.untouched(info, p.Size()); err != nil {
		return err
	}
	if err := s.finish(info, p.Size(), final.Mode.Perm(), final.ModTime); err != nil {
		return s.back(err)
	}
	if err := s.announce(p, final.Due); err != nil {
		return s.back(err)
	}
	// The files set aside are removed before the rename: if the process is stopped right after the rename, no journal
	// lists them for the next run.
	f.asides.remove()
	if err := s.rename(final.Replace); err != nil {
		return s.back(err)
	}
	// The file is in place, so the commit cannot be undone any more. A journal that cannot be removed lists nothing
	// more, and the files to be closed are already on disk, so neither of these errors matters.
	err = s.at.dir.Sync()
	astray := s.at.checkPath(s.at.name) // while the journal is locked: afterwards another owner may replace the file
	if err == nil && !final.Due {
		s.at.remove(s.at.journal())
	}
	s.release()
	if err != nil {
		return fmt.Errorf("%s is in place, but might be lost if the power fails now: %w", s.at.join(s.at.name), err)
	}
	return astray
}

// proven checks that the file can be committed, and that p is a proof about exactly the written bytes.
func (s *store) proven(p verify.Proof) error {
	if err := s.check("commit"); err != nil {
		return err
	}
	if err := s.unsafe.Load(); err != nil {
		return *err
	}
	if !p.Valid() {
		return &StateError{s.part.path, "nothing proves that its content is right"}
	}
	if s.ledger.now() != writing {
		return &StateError{s.part.path, "committed before Begin"}
	}
	have := s.ledger.have()
	whole := byterange.Range{End: p.Size()}
	if !have.Contains(whole) || have.Len() != whole.Len() {
		return &StateError{s.part.path, fmt.Sprintf("has the bytes %v, but the proof is for %v", &have, whole)}
	}
	return nil
}

// finish gives the part file its final length, mode and time, and syncs it. If mode is zero, the file gets the mode of
// a new file. If at is zero, the file keeps the time of its last write. info is the present state.
func (s *store) finish(info fsys.Info, size int64, mode fs.FileMode, at time.Time) error {
	if err := s.trim(info, size); err != nil {
		return err
	}
	if mode == 0 {
		mode = 0o666 &^ umask()
	}
	if err := s.part.Chmod(mode); err != nil {
		return err
	}
	if !at.IsZero() {
		if err := s.at.dir.SetTime(s.at.part(), at); err != nil {
			return err
		}
	}
	s.syncing.Lock()
	defer s.syncing.Unlock()
	if err := s.syncPart(s.part.Sync); err != nil {
		return err
	}
	return s.part.record()
}

// trim releases the space that was reserved beyond the end of the file. Without such space it returns early: for a
// small file, truncating it to its own size would cost more than this check.
func (s *store) trim(info fsys.Info, size int64) error {
	if info.Size == size && info.Allocated < size+info.BlockSize {
		return nil
	}
	return s.part.Truncate(size)
}

// announce records that the file with proof p is about to be committed. If due is set, the record must reach the disk
// together with the name of the journal. Otherwise the record only saves the next run work, so a failure to write it is
// no error.
func (s *store) announce(p verify.Proof, due bool) error {
	err := s.journal.commit(p, s.part.recorded().ModTime, due)
	if !due {
		return nil
	}
	if err == nil {
		err = s.journal.file.Datasync()
	}
	if err == nil && !s.named.Load() {
		err = s.at.dir.Sync()
	}
	return err
}

// rename renames the part file to its final name, if the part file's name still belongs to the open file and no other
// program has changed the file.
func (s *store) rename(replace bool) error {
	info, err := s.at.check(s.part)
	if err == nil {
		err = s.part.unchanged(info)
	}
	if err != nil {
		return err
	}
	return s.at.rename(replace)
}

// back restores the permissions of a part file after a commit failed with err. It returns err joined with its own
// errors.
func (s *store) back(err error) error {
	err = errors.Join(err, s.part.Chmod(0o600))
	if _, touched := errors.AsType[*TouchedError](err); touched {
		return err
	}
	return errors.Join(err, s.part.record())
}

// Close syncs the bytes written so far and keeps them for the next run. Without any bytes, it removes the part file and
// the journal. The journal stays if files were set aside, because only the journal shows that braid set them aside. If
// the part file is not in its place any more, the error is a *MovedError. After Commit, Discard or Close it does nothing.
func (f *File) Close() error {
	s := f.store
	switch s.ledger.now() {
	case closed:
		return nil
	case inherited:
		return s.release()
	}
	have := f.Have()
	none := have.Count() == 0
	var err error
	if !none {
		err = s.sync()
		have = f.Have()
		none = err != nil && have.Count() == 0 // no byte could be synced
	}
	switch {
	case none && !s.temporary() && f.asides.any():
		list, wrong := f.asides.payload()
		return errors.Join(err, wrong, s.discard(list))
	case none:
		return errors.Join(err, f.Discard())
	case !s.temporary():
		path, moved := s.at.find(s.part)
		if path != "" {
			f.kept, f.keptAt = have.Len(), path
		}
		err = errors.Join(err, moved)
	}
	return errors.Join(err, s.release())
}

// Discard removes the part file and the journal. It keeps bytes that Reset declared to be useless and that no other
// bytes replaced. After Commit, Discard or Close it does nothing.
func (f *File) Discard() error {
	if f.store.ledger.now() == closed {
		return nil
	}
	if f.store.temporary() || f.useless != "" {
		return f.store.release()
	}
	return f.store.discard(nil)
}

// Kept returns the number of bytes that Close kept for the next run, and the path of the part file. The results are
// zero and empty after Commit or Discard, or if the part file cannot be found any more.
func (f *File) Kept() (size int64, path string) { return f.kept, f.keptAt }
