package partfile

import (
	"context"
	"errors"
	"fmt"
	"os"

	"braid/internal/fsys"
)

// maxEntry is the maximum length in bytes of a name in a folder.
const maxEntry = 255

// CheckName returns an error if a file of that name would have a journal with a name that is too long for most file
// systems.
func CheckName(name string) error {
	const most = maxEntry - len(journalEnding)
	if len(name) > most {
		return fmt.Errorf("the name has %d bytes, but with the name of its journal, NAME%s, at most %d are possible",
			len(name), journalEnding, most)
	}
	return nil
}

// Target returns the state of the file at the final name. It reports true for an ordinary file. For anything else that
// exists, the error is a *NameError.
func Target(files fsys.FS, dir, name string) (info fsys.Info, present bool, err error) {
	d, base, err := openFolder(files, dir, name)
	if err != nil {
		return info, false, err
	}
	defer d.close()
	return d.target(base)
}

// Open opens the part file of name, which is relative to dir, and locks it against other processes. It creates the part
// file if it does not exist. A file that cannot be trusted is set aside; see Aside.
//
// The error is an *InUseError, a *NameError or an error of the file system.
func Open(files fsys.FS, dir, name string) (*File, error) {
	at, err := openPlace(files, dir, name)
	if err != nil {
		return nil, err
	}
	j := &journal{name: at.name}
	f := &File{
		store:  &store{at: at, part: &guarded{path: at.partPath()}, journal: j, ledger: newLedger(idle)},
		asides: asides{at: at, journal: j},
	}
	if err := f.open(); err != nil {
		f.store.release()
		return nil, err
	}
	return f, nil
}

func (f *File) open() error {
	s := f.store
	h, newJournal, err := s.journal.open(s.at)
	own := !newJournal && err == nil && h.size > 0 // the part file has a journal that braid wrote
	if err == errForeign {
		// If another process creates the journal first, the part file is in use by that process.
		if err = f.asides.takeJournal(); err == nil {
			s.journal.file.Close()
			h, newJournal, err = s.journal.open(s.at)
		}
	}
	if err != nil {
		return err
	}
	if err := s.at.unlink(h); err != nil {
		return err
	}
	f.asides.before = oldAsides{h.payload, h.identity.asides}
	file, newPart, err := s.at.openOurs(s.at.part())
	if err != nil {
		return err
	}
	if err := s.part.start(file, newPart); err != nil {
		return err
	}
	if newPart && newJournal { // the usual case: both files are new and empty
		return nil
	}
	info, err := s.part.Info()
	switch {
	case err != nil:
		return err
	case !h.known && info.Size > 0:
		return f.setAside("no trusted record says which file the part belongs to", own)
	case len(h.runs) == 0 && len(h.identity.asides) > 0 && h.committed == nil:
		// Keep the journal. The list of files set aside must not be lost before SealWith sets the key.
		s.journal.size = h.size
		return errors.Join(s.journal.file.Truncate(h.size), s.part.Truncate(0), s.part.Chmod(0o600), s.part.record())
	case len(h.runs) == 0 || info.Size == 0:
		return s.empty(nil)
	}
	return s.inherit(h)
}

// setAside renames the part file to NAME.part.bad and begins an empty part file. own is set if one of braid's journals
// describes the bytes.
func (f *File) setAside(why string, own bool) error {
	name, taken, err := f.asides.take(f.store.part, own)
	if err != nil {
		return err
	}
	if taken {
		if err := f.store.renew(); err != nil {
			return err
		}
	}
	f.asides.tell(name, why)
	list, err := f.asides.payload()
	if err != nil {
		return err
	}
	return f.store.empty(list)
}

// Reset declares the bytes of an earlier run to be useless. MakeWay, or else Begin, sets these bytes aside as
// NAME.part.bad, replacing a file that an earlier run set aside; Aside then returns the reason. Until then the bytes
// stay: if no other bytes come, Close and Discard leave the useless bytes to the next run.
func (f *File) Reset(reason string) error {
	if err := f.store.check("reset"); err != nil {
		return err
	}
	if f.store.ledger.now() != inherited {
		return f.setAside(reason, true)
	}
	f.useless = reason
	return nil
}

// Useless reports whether Reset declared the bytes to be useless and the bytes have not been set aside yet.
func (f *File) Useless() bool { return f.useless != "" && f.store.ledger.now() == inherited }

// MakeWay sets aside the bytes that Reset declared to be useless, and begins an empty part file.
func (f *File) MakeWay() error {
	if !f.Useless() {
		return nil
	}
	why := f.useless
	f.useless = ""
	return f.setAside(why, true)
}

// SealWith makes f seal its records with k from now on, and makes Sealed check seals with k.
func (f *File) SealWith(k *Key) {
	if !f.store.temporary() {
		f.store.journal.key = k
	}
}

// Restart discards the bytes and begins an empty part file, because the file has changed on the server. The caller must
// call Begin next.
func (f *File) Restart() error {
	if err := f.store.check("restart"); err != nil || f.useless != "" {
		return err
	}
	list, err := f.asides.payload()
	if err != nil {
		return err
	}
	return f.store.empty(list)
}

// OpenTemp opens a nameless file in dir, or in os.TempDir if dir is empty. The file holds bytes of a stream that arrive
// before the bytes in front of them. It accepts writes immediately. It disappears when it is closed or the process is
// killed.
func OpenTemp(files fsys.FS, dir string) (*File, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	part, err := fsys.Or(files).OpenTemp(dir)
	if err != nil {
		return nil, err
	}
	return Around(part), nil
}

// Around returns a File for bytes that are stored in part. The File has no name, no journal and no earlier run, and
// accepts writes immediately.
func Around(part fsys.File) *File {
	l := newLedger(writing)
	l.unjournaled = true
	return &File{store: &store{part: &guarded{File: part}, ledger: l}}
}

// Prior returns the identity of the file that an earlier run was downloading, if that run left bytes. The bytes have
// not been checked.
func (f *File) Prior() (Identity, bool) {
	if f.store.ledger.now() != inherited || f.useless != "" {
		return Identity{}, false
	}
	return f.store.prior.identity, true
}

// Recover takes over the bytes of an earlier run. It reads each range in the journal and compares its CRC-32C. Ranges
// that match are in Have afterwards, the others are missing. If ctx is done first, all these bytes stay undecided.
func (f *File) Recover(ctx context.Context) error {
	if f.store.ledger.now() != inherited {
		return nil
	}
	return f.store.recover(ctx)
}

// Inherited returns the number of bytes that an earlier run left, according to its journal.
func (f *File) Inherited() int64 {
	if f.store.ledger.now() != inherited || f.useless != "" {
		return 0
	}
	info, err := f.store.part.Info()
	if err != nil {
		return 0
	}
	have := f.store.prior.have(info.Size)
	return have.Len()
}

// Sealed reports whether the key sealed the identity that Prior returns, for this name. Without a seal, any program may
// have written that identity: Prior is no evidence, and the bytes must be proven in another way.
func (f *File) Sealed() bool {
	return f.store.ledger.now() == inherited && f.store.journal.fits(f.store.prior.payload)
}
