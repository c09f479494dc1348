package partfile

import (
	"encoding/json"
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
	// Replace allows an ordinary file of the final name to be replaced. If false, such a file stays and the error is
	// fs.ErrExist, even if the file appeared at the last moment.
	Replace bool
	// Mode is the permission bits of the file. If zero, they are 0666 without the bits of the umask.
	Mode fs.FileMode
	// ModTime is the modification time of the file. If zero, the file keeps the time of its last write.
	ModTime time.Time
	// Due keeps the journal, with a note that work on the file remains, until [Committed.Clear] removes it.
	Due bool
}

// Commit renames the part file to its final name, syncs it and closes f. The proof p states that all bytes of the file
// were read, and which digests they match. Whether that proof is enough is the caller's decision.
//
// After an error the final name is unchanged and f can still be used, with two exceptions in which the file is in
// place: the folder could not be synced, or the error is a *MovedError, whose Now is the path of the file.
func (f *File) Commit(p verify.Proof, final Final) error {
	if err := f.committable(p); err != nil {
		return err
	}
	if err := f.checkName(); err != nil {
		return err
	}
	info, err := f.part.Info()
	if err != nil {
		return err
	}
	if err := f.untouched(info, p.Size()); err != nil {
		return err
	}
	if err := f.finish(info, p.Size(), final); err != nil {
		return f.back(err)
	}
	if err := f.announce(p, final.Due); err != nil {
		return f.back(err)
	}
	// This comes before the rename: if the process is stopped right after it, the next run has no journal that lists
	// these files.
	f.removeAsides()
	if err := f.rename(final.Replace); err != nil {
		return f.back(err)
	}
	// The file is in place, so there is no way back from here. A journal that cannot be removed lists nothing more, and
	// the files to be closed are already on disk, so neither of these errors matters.
	err = f.folder.dir.Sync()
	if err == nil && !final.Due {
		f.folder.remove(f.journalName())
	}
	astray := f.folder.checkPath(f.name)
	f.release()
	if err != nil {
		return fmt.Errorf("%s is in place, but after a loss of power it may not be: %w", f.folder.join(f.name), err)
	}
	return astray
}

// committable checks that f can be committed, and that p is a proof about exactly the bytes that f has.
func (f *File) committable(p verify.Proof) error {
	if err := f.checkOpen("commit"); err != nil {
		return err
	}
	if err := f.unsafe.Load(); err != nil {
		return *err
	}
	if !p.Valid() {
		return &StateError{f.Path(), "nothing proves that its content is right"}
	}
	if f.ledger.now() != writing {
		return &StateError{f.Path(), "committed before Begin"}
	}
	have := f.Have()
	whole := byterange.Range{End: p.Size()}
	if !have.Contains(whole) || have.Len() != whole.Len() {
		return &StateError{f.Path(), fmt.Sprintf("has the bytes %v, and the proof is about %v", &have, whole)}
	}
	return nil
}

// finish gives the part file its final length, mode and time, and syncs it.
func (f *File) finish(info fsys.Info, size int64, final Final) error {
	if err := f.trim(info, size); err != nil {
		return err
	}
	mode := final.Mode.Perm()
	if mode == 0 {
		mode = 0o666 &^ umask()
	}
	if err := f.part.Chmod(mode); err != nil {
		return err
	}
	if err := f.setTime(final.ModTime); err != nil {
		return err
	}
	f.syncing.Lock()
	defer f.syncing.Unlock()
	f.ledger.beginSync()
	if err := f.part.Sync(); err != nil {
		return f.lost(err)
	}
	f.ledger.endSync()
	return f.recordInfo()
}

// trim releases the space that was reserved beyond the end of the file. If none was, it returns early: for a small
// file, truncating it to its own size would cost more than this check.
func (f *File) trim(info fsys.Info, size int64) error {
	if info.Size == size && info.Allocated < size+info.BlockSize {
		return nil
	}
	return f.part.Truncate(size)
}

func (f *File) setTime(t time.Time) error {
	if t.IsZero() {
		return nil
	}
	return f.folder.dir.SetTime(f.partName(), t)
}

// rename renames the part file to its final name, if the part file's name still belongs to the file that f has open.
func (f *File) rename(replace bool) error {
	if err := f.checkName(); err != nil {
		return err
	}
	if err := f.checkUntouched(); err != nil {
		return err
	}
	if !replace {
		return f.folder.renameNew(f.partName(), f.name)
	}
	if _, _, err := f.folder.target(f.name); err != nil {
		return err
	}
	return f.folder.dir.Rename(f.partName(), f.name)
}

// back restores the permissions of a part file after a commit failed with err. It returns err joined with its own
// errors.
func (f *File) back(err error) error {
	err = errors.Join(err, f.part.Chmod(0o600))
	if _, touched := errors.AsType[*TouchedError](err); touched {
		return err
	}
	return errors.Join(err, f.recordInfo())
}

// checkName checks that the part file's name still belongs to the file that f has open.
func (f *File) checkName() error {
	same, err := f.folder.isNameOf(f.partName(), f.part)
	if err != nil || same {
		return err
	}
	if _, err := f.folder.dir.Stat(f.partName()); errors.Is(err, fs.ErrNotExist) {
		return f.gone()
	}
	return &NameError{f.Path(), "was replaced by another program"}
}

// checkUntouched returns a *TouchedError if another program changed the file since recordInfo last ran.
func (f *File) checkUntouched() error {
	info, err := f.part.Info()
	if err == nil {
		err = f.same(info)
	}
	if err == nil {
		err = f.untouched(info, info.Size)
	}
	return err
}

// Close syncs the bytes written so far and keeps them for the next run. If there are none, it removes the part file and
// the journal. If the part file is not in its place any more, the error is a *MovedError. After Commit, Discard or
// Close it does nothing.
func (f *File) Close() error {
	switch f.ledger.now() {
	case closed:
		return nil
	case inherited:
		return f.release()
	}
	if have := f.Have(); have.Count() == 0 {
		return f.leaveAsides()
	}
	err := f.Sync()
	if have := f.Have(); err != nil && have.Count() == 0 { // no byte could be synced
		return errors.Join(err, f.leaveAsides())
	}
	return errors.Join(err, f.recordKept(), f.release())
}

// leaveAsides discards f, unless files were set aside that only the journal identifies as braid's. In that case it
// keeps a journal that lists these files and nothing else.
func (f *File) leaveAsides() error {
	if f.temporary() || !f.hasAsides() {
		return f.Discard()
	}
	f.ledger.clear(idle)
	err := f.folder.remove(f.partName())
	if err == nil {
		err = f.restart()
	}
	return errors.Join(err, f.release())
}

// Discard removes the part file and the journal, but leaves bytes that Reset declared to be useless and that no other
// bytes replaced. After Commit, Discard or Close it does nothing.
func (f *File) Discard() error {
	if f.ledger.now() == closed {
		return nil
	}
	if f.temporary() || f.useless != "" {
		return f.release()
	}
	err := f.folder.remove(f.partName())
	// The journal is the lock, so it is removed last. Until then no other process can begin a new part file.
	if err == nil {
		err = f.folder.remove(f.journalName())
	}
	return errors.Join(err, f.release())
}

// release closes all open files and marks f as closed.
func (f *File) release() (err error) {
	f.ledger.enter(closed)
	f.stopGuard()
	if f.part != nil {
		err = f.part.Close()
	}
	if f.journal != nil {
		err = errors.Join(err, f.journal.file.Close())
	}
	if f.folder.dir != nil {
		err = errors.Join(err, f.folder.close())
	}
	return err
}

// announce records that the file is about to be committed. If due is set, the record must reach the disk together with
// the name of the journal. Otherwise the record only saves the next run work, so a failure to write it is no error.
func (f *File) announce(p verify.Proof, due bool) error {
	err := f.record(p, due)
	if !due {
		return nil
	}
	if err == nil {
		err = f.journal.file.Datasync()
	}
	if err == nil && !f.named.Load() {
		err = f.folder.dir.Sync()
	}
	return err
}

func (f *File) record(p verify.Proof, due bool) error {
	f.guarded.mu.Lock()
	info := f.guarded.last
	f.guarded.mu.Unlock()
	f.journal.mu.Lock()
	defer f.journal.mu.Unlock()
	c := committed{URLSum: f.urlSum, Size: p.Size(), ModTime: info.ModTime.UTC(), Due: due}
	for _, d := range p.Digests() {
		if d.Algorithm() == verify.SHA256 {
			c.Digest = recordsOf([]verify.Claim{{Digest: d}})
		}
	}
	payload, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return f.journal.append(func(b []byte) []byte {
		return appendRecord(b, kindCommitted, func(b []byte) []byte { return append(b, f.key.sealed(f.name, payload)...) })
	})
}

// unlink removes the part file's name if it is a second link to the file in place. That happens if a run was stopped
// within the commit, on a file system that cannot rename without replacing.
func (f *File) unlink(h history) error {
	if h.committed == nil {
		return nil
	}
	info, there, err := f.folder.target(f.name)
	if err != nil || !there {
		return nil // placed examines it again
	}
	part, err := f.folder.dir.Stat(f.partName())
	if err != nil || part.ID != info.ID {
		return nil
	}
	return f.folder.remove(f.partName())
}

// Kept returns the number of bytes that Close kept for the next run, and the path of the part file. They are zero and
// empty after Commit or Discard, or if the part file cannot be found any more.
func (f *File) Kept() (size int64, path string) { return f.kept, f.keptAt }

func (f *File) gone() error {
	what := "was removed or replaced by another program while it was written"
	if _, err := f.folder.files.Stat(f.folder.path); notThere(err) {
		what = "was removed by another program while it was written, with its folder"
	}
	return &MovedError{Path: f.Path(), What: what}
}

// recordKept sets the results of Kept: it determines where the part file is now.
func (f *File) recordKept() error {
	if f.temporary() {
		return nil
	}
	if same, err := f.folder.isNameOf(f.partName(), f.part); !same && err == nil {
		return f.gone()
	}
	have := f.Have()
	f.kept, f.keptAt = have.Len(), f.Path()
	err := f.folder.checkPath(f.partName())
	if moved, ok := errors.AsType[*MovedError](err); ok {
		if f.keptAt = moved.Now; moved.Now == "" {
			f.kept = 0
		}
	}
	return err
}
