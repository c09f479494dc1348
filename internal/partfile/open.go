package partfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"braid/internal/fsys"
)

// maxEntry is the maximum length in bytes of a name in a folder.
const maxEntry = 255

// CheckName returns an error if the journal of a file of that name would have a name that is too long for most file
// systems.
func CheckName(name string) error {
	const most = maxEntry - len(journalEnding)
	if len(name) > most {
		return fmt.Errorf("the name has %d bytes, and with those of its journal, NAME%s, no more than %d fit",
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
	d, base, err := openFolder(files, dir, name)
	if err != nil {
		return nil, err
	}
	f := &File{folder: d, name: base, ledger: newLedger(idle)}
	if err := f.open(); err != nil {
		f.release()
		return nil, err
	}
	return f, nil
}

func (f *File) open() error {
	h, newJournal, err := f.openJournal()
	own := !newJournal && err == nil && h.size > 0 // the part file has a journal that braid wrote
	if err == errForeign {
		h, newJournal, err = f.replaceJournal()
	}
	if err != nil {
		return err
	}
	if err := f.unlink(h); err != nil {
		return err
	}
	f.before = oldAsides{h.payload, h.identity.asides}
	var newPart bool
	if f.part, newPart, err = f.folder.openOurs(f.partName()); err != nil {
		return err
	}
	if err := f.startGuard(newPart); err != nil {
		return err
	}
	if newPart && newJournal { // the usual case: both files are new and empty
		return nil
	}
	info, err := f.part.Info()
	switch {
	case err != nil:
		return err
	case !h.known && info.Size > 0:
		return f.setAside("no trusted record says which file it is a part of", own)
	case len(h.runs) == 0 && len(h.identity.asides) > 0 && h.committed == nil:
		// Keep the journal. The list of files set aside must not be lost before SealWith sets the key.
		f.journal.size = h.size
		return errors.Join(f.journal.file.Truncate(h.size), f.part.Truncate(0), f.part.Chmod(0o600), f.recordInfo())
	case len(h.runs) == 0 || info.Size == 0:
		return f.empty()
	}
	return f.inherit(h)
}

// openJournal locks the journal and, unless it is new, reads it. If the file is not a journal, the error is errForeign.
func (f *File) openJournal() (h history, isNew bool, err error) {
	file, isNew, err := f.folder.openLocked(f.journalName(), f.partName())
	if err != nil {
		return history{}, false, err
	}
	f.journal = &journal{file: file}
	if isNew {
		return history{}, true, nil
	}
	h, err = readHistory(io.NewSectionReader(file, 0, math.MaxInt64))
	if err != nil && err != errForeign {
		err = &fs.PathError{Op: "read", Path: file.Name(), Err: err}
	}
	return h, false, err
}

// replaceJournal sets a foreign journal aside and creates a new one. If another process creates it first, the part file
// is in use by that process.
func (f *File) replaceJournal() (h history, isNew bool, err error) {
	bad, err := f.renameAside(f.journalName(), journalEnding)
	if err != nil {
		return history{}, false, err
	}
	f.tell(bad, errForeign.Error())
	f.journal.file.Close()
	return f.openJournal()
}

// inherit keeps the journal of an earlier run, without its torn tail.
func (f *File) inherit(h history) error {
	if err := f.journal.file.Truncate(h.size); err != nil {
		return err
	}
	f.journal.size, f.journal.identity = h.size, h.payload
	f.prior = h
	f.ledger.enter(inherited)
	return errors.Join(f.part.Chmod(0o600), f.recordInfo())
}

// empty empties both files and forgets earlier runs.
func (f *File) empty() error {
	if err := f.part.Truncate(0); err != nil {
		return err
	}
	if err := f.part.Chmod(0o600); err != nil {
		return err
	}
	f.prior = history{}
	f.ledger.clear(idle)
	if err := f.recordInfo(); err != nil {
		return err
	}
	return f.restart()
}

// restart empties the journal, except for the list of files set aside.
func (f *File) restart() error {
	payload, err := f.asidesAlone()
	if err != nil {
		return err
	}
	f.journal.mu.Lock()
	defer f.journal.mu.Unlock()
	return f.journal.restart(payload)
}

// asidesAlone returns the payload of an identity that lists only the files set aside. It returns nil if there are none
// or f has no key.
func (f *File) asidesAlone() ([]byte, error) {
	if f.key == nil || len(f.ownAsides()) == 0 {
		return nil, nil
	}
	payload, err := Identity{Size: -1, asides: f.ownAsides()}.encode()
	return f.key.sealed(f.name, payload), err
}

// SealWith makes f seal its records with k from now on, and makes Sealed check seals with k.
func (f *File) SealWith(k *Key) { f.key = k }

// Restart discards the bytes and begins an empty part file, because the file has changed on the server. The caller must
// call Begin next.
func (f *File) Restart() error {
	if err := f.checkOpen("restart"); err != nil || f.useless != "" {
		return err
	}
	return f.empty()
}

// checkOpen checks that f has a name and is open.
func (f *File) checkOpen(op string) error {
	switch {
	case f.ledger.now() == closed:
		return f.closedError(op)
	case f.temporary():
		return &StateError{f.part.Name(), "a temporary file has no name"}
	}
	return nil
}

// OpenTemp opens a nameless file in dir, or in os.TempDir if dir is empty. It holds the bytes of a stream that arrive
// before their turn. It accepts writes at once, and disappears when it is closed or the process is killed.
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

// Around returns a File for bytes that are stored in part, without a name, a journal or an earlier run. It accepts
// writes at once.
func Around(part fsys.File) *File {
	f := &File{part: part, ledger: newLedger(writing)}
	f.ledger.unjournaled = true
	return f
}

// Prior returns the identity of the file that an earlier run was downloading, if that run left bytes. The bytes have
// not been checked.
func (f *File) Prior() (Identity, bool) {
	if f.ledger.now() != inherited || f.useless != "" {
		return Identity{}, false
	}
	return f.prior.identity, true
}

// Recover takes over the bytes of an earlier run. It reads each range in the journal and compares its CRC-32C. Ranges
// that match are in Have afterwards, the others are missing. If ctx ends, the bytes remain undecided.
func (f *File) Recover(ctx context.Context) error {
	if f.ledger.now() != inherited {
		return nil
	}
	right, err := matching(ctx, f.part, f.prior.runs)
	if err != nil {
		return err
	}
	for r := range right.All() {
		f.ledger.restore(r)
	}
	f.prior = history{}
	f.ledger.enter(idle)
	return nil
}

// Inherited returns the number of bytes that an earlier run left, according to its journal.
func (f *File) Inherited() int64 {
	if f.ledger.now() != inherited || f.useless != "" {
		return 0
	}
	info, err := f.part.Info()
	if err != nil {
		return 0
	}
	have := f.prior.have(info.Size)
	return have.Len()
}

// Sealed reports whether the key sealed the identity that Prior returns, for this name. If not, any program may have
// written it: Prior is no evidence, and the bytes must be proven in another way.
func (f *File) Sealed() bool {
	return f.ledger.now() == inherited && f.key.fits(f.name, f.prior.payload)
}
