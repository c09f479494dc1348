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

// A Final says how a file gets its final name.
type Final struct {
	// Replace replaces an ordinary file of that name. Without it, such a file stays and the error is
	// fs.ErrExist, however late it appeared.
	Replace bool
	// Mode is the permissions of the file. If zero, they are 0666 less the umask.
	Mode fs.FileMode
	// ModTime is when the content was changed. If zero, that is when it was written.
	ModTime time.Time
	// Due keeps the journal, which says that something is still to be done with the file, until [Committed.Clear].
	Due bool
}

// Commit gives the file its final name: p says that all of its bytes were read, and what is proven of them; whether
// that is enough is the caller's decision. It is on disk then, under no other name, and f is closed. If there is an
// error, nothing under the final name has changed and f can still be used, unless the error says that the file is in
// place: then the folder could not be synced, or it is a *MovedError, whose Now is where the file is.
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
	f.removeAsides() // now: should we be stopped behind the rename, the next run has no journal that speaks of them
	if err := f.rename(final.Replace); err != nil {
		return f.back(err)
	}
	// The file is in place: from here on there is no way back. A journal that cannot be removed speaks of nothing any more, and
	// what is to be closed is on disk: that takes nothing from the file.
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

// committable checks that p is a proof about bytes that are there.
func (f *File) committable(p verify.Proof) error {
	if err := f.checkOpen("commit"); err != nil {
		return err
	}
	if err := f.unsafe.Load(); err != nil {
		return *err
	}
	if !p.Valid() {
		return &StateError{f.Path(), "there is no proof that its content is right"}
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

// finish makes the file what it will be, on disk.
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

// trim gives back what was reserved beyond the end of the file. Where there is nothing, that costs a small file less
// than a truncation to its own size.
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

// rename renames the part file, if it is still the one that f has open.
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

// back makes the file a part file again, as err keeps it from being more.
func (f *File) back(err error) error {
	err = errors.Join(err, f.part.Chmod(0o600))
	if _, touched := errors.AsType[*TouchedError](err); touched {
		return err
	}
	return errors.Join(err, f.recordInfo())
}

// checkName sees that the part file's name is still that of the file that f has open.
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

// checkUntouched returns a *TouchedError if another program did something to the file since it was settled.
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

// Close puts what is there on disk and keeps it for the next run. If that is nothing, both files are
// removed. If it is not where it was, the error is a *MovedError. After Commit, Discard or Close it does nothing.
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
	if have := f.Have(); err != nil && have.Count() == 0 { // none of it could be put on disk
		return errors.Join(err, f.leaveAsides())
	}
	return errors.Join(err, f.recordKept(), f.release())
}

// leaveAsides is Discard, but where something was set aside that the journal alone says is ours: then it stays, and
// speaks of nothing else.
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

// Discard removes both files. After Commit, Discard or Close it does nothing.
func (f *File) Discard() error {
	if f.ledger.now() == closed {
		return nil
	}
	if f.temporary() {
		return f.release()
	}
	err := f.folder.remove(f.partName())
	// The journal is the lock and goes last: no other process can have begun a new part file before.
	if err == nil {
		err = f.folder.remove(f.journalName())
	}
	return errors.Join(err, f.release())
}

// release closes what is open.
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

// announce records what is committed next. If something will be due it is on disk then, with the name of the journal.
// Else it saves the next run work, and a journal that has no room for it is no reason to fail.
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

// unlink removes the name of the part file where that is a second one of the file in place: a run was stopped within
// the commit, on a file system that cannot rename without replacing.
func (f *File) unlink(h history) error {
	if h.committed == nil {
		return nil
	}
	info, there, err := f.folder.target(f.name)
	if err != nil || !there {
		return nil // place looks at it again
	}
	part, err := f.folder.dir.Stat(f.partName())
	if err != nil || part.ID != info.ID {
		return nil
	}
	return f.folder.remove(f.partName())
}

// Kept is what Close has left for the next run, and where that is. It is nothing after Commit or Discard, and where the
// file is not found any more.
func (f *File) Kept() (size int64, path string) { return f.kept, f.keptAt }

func (f *File) gone() error {
	what := "was removed or replaced by another program while it was written"
	if _, err := f.folder.files.Stat(f.folder.path); notThere(err) {
		what = "was removed by another program while it was written, with its folder"
	}
	return &MovedError{Path: f.Path(), What: what}
}

// recordKept finds out where the part file is that is left.
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
