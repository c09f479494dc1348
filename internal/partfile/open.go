package partfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"braid/internal/fsys"
)

// maxEntry is how many bytes the name of an entry may have.
const maxEntry = 255

// CheckName returns an error if the files beside a file of that name would have names that are too long for any file system.
func CheckName(name string) error {
	const most = maxEntry - len(journalEnding)
	if len(name) > most {
		return fmt.Errorf("the name has %d bytes, and with those of its journal, NAME%s, no more than %d fit", len(name), journalEnding, most)
	}
	return nil
}

// Target looks at what has the final name. If that is an ordinary file, present is true; if it is something
// else, the error is a *NameError.
func Target(files fsys.FS, dir, name string) (info fsys.Info, present bool, err error) {
	d, base, err := openFolder(files, dir, name)
	if err != nil {
		return info, false, err
	}
	defer d.close()
	return d.target(base)
}

// Open opens the part file of name, which is relative to dir, and makes it ours: no other process can
// while this one has it open. If there is none, it begins one. What is there and cannot be trusted
// is set aside; see Aside.
//
// Errors are *InUseError, *NameError, and those of the file system.
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
	own := !newJournal && err == nil && h.size > 0 // the part file has a journal, which is one of ours
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
	if newPart && newJournal { // the usual case: there is nothing to read and nothing to empty
		return nil
	}
	info, err := f.part.Info()
	switch {
	case err != nil:
		return err
	case !h.known && info.Size > 0:
		return f.setAside("nothing that can be trusted says what it is a part of", own)
	case len(h.runs) == 0 && len(h.identity.asides) > 0 && h.committed == nil: // nothing may be lost of that before there is a key
		f.journal.size = h.size
		return errors.Join(f.journal.file.Truncate(h.size), f.part.Truncate(0), f.part.Chmod(0o600), f.recordInfo())
	case len(h.runs) == 0 || info.Size == 0:
		return f.empty()
	}
	return f.inherit(h)
}

// openJournal locks and reads the journal, if it is not a new one. If it is none, the error is errForeign.
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

// replaceJournal sets a foreign journal aside and begins one. Another process may be faster; then
// the part file is in use by that one.
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
	f.journal.size = h.size
	f.prior = h
	f.ledger.enter(inherited)
	return errors.Join(f.part.Chmod(0o600), f.recordInfo())
}

// empty makes both files empty, without a trace of earlier runs.
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

// restart makes the journal an empty one, but for what was set aside.
func (f *File) restart() error {
	payload, err := f.asidesAlone()
	if err != nil {
		return err
	}
	f.journal.mu.Lock()
	defer f.journal.mu.Unlock()
	return f.journal.restart(payload)
}

// asidesAlone is an identity of no file, which says what was set aside; nil if that is nothing, or no key seals it.
func (f *File) asidesAlone() ([]byte, error) {
	if f.key == nil || len(f.ownAsides()) == 0 {
		return nil, nil
	}
	payload, err := Identity{Size: -1, asides: f.ownAsides()}.encode()
	return f.key.sealed(f.name, payload), err
}

// hasAsides reports whether something is there that this download or an earlier one of its name set aside.
func (f *File) hasAsides() bool {
	return f.key != nil && slices.ContainsFunc(f.ownAsides(), func(a ownAside) bool {
		there, err := f.folder.isThere(a)
		return there && err == nil
	})
}

// isThere reports whether what was set aside lies there as it was left.
func (d folder) isThere(a ownAside) (bool, error) {
	info, ok, err := d.regular(a.Name)
	return ok && info.ID == a.ID && info.Size == a.Size && info.ModTime.Equal(a.ModTime), err
}

// An ownAside is a file that a download of the same name set aside, and which had a journal of ours. It goes when the download
// succeeds; any other file of such a name stays.
type ownAside struct {
	Name    string
	ID      fsys.ID
	Size    int64
	ModTime time.Time
}

// mostAsides is how many names of one kind are tried.
const mostAsides = 99

// setAside renames what is there to NAME.part.bad and starts empty. Own reports whether a journal of ours speaks of it.
// Should we be stopped in between, the journal speaks of bytes that are not there any more.
func (f *File) setAside(why string, own bool) error {
	info, err := f.part.Info()
	if err != nil {
		return err
	}
	bad := f.partName() + asideEnding
	if info.Size > 0 {
		if own {
			f.removeAsides() // what an earlier run set aside is replaced
			if err := f.announceAside(ownAside{bad, info.ID, info.Size, info.ModTime.UTC()}); err != nil {
				return err
			}
		}
		if bad, err = f.renameAside(f.partName(), partEnding); err != nil {
			return err
		}
		if own {
			f.asides[len(f.asides)-1].Name = bad
		}
		f.stopGuard()
		f.part.Close()
		f.named.Store(false)
		if f.part, _, err = f.folder.openOurs(f.partName()); err != nil {
			return err
		}
		if err := f.startGuard(true); err != nil {
			return err
		}
	}
	f.tell(bad, why)
	return f.empty()
}

// announceAside records what is set aside next: a run that is stopped behind that leaves nothing of which nobody knows
// whose it is. Under another name than the usual one, which is taken, it is recorded when it has it.
func (f *File) announceAside(a ownAside) error {
	f.asides = append(f.asides, a)
	payload, err := f.asidesAlone()
	if err != nil || payload == nil {
		return err
	}
	return f.journal.begin(payload)
}

// renameAside gives an entry a name that is free: NAME.part.bad, NAME.2.part.bad, and so on.
func (f *File) renameAside(from, ending string) (name string, err error) {
	if len(f.name+"."+strconv.Itoa(mostAsides)+ending+asideEnding) > maxEntry {
		ending = partEnding
	}
	for i := 1; i <= mostAsides; i++ {
		name = f.name + ending + asideEnding
		if i > 1 {
			name = f.name + "." + strconv.Itoa(i) + ending + asideEnding
		}
		if err = f.folder.renameNew(from, name); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
	return "", &NameError{f.folder.join(f.name + ending + asideEnding), "and 98 more such names are taken: remove what is not needed"}
}

// An oldAsides is what the journal that Open found says of such files, and what has its seal. Without that any program may have
// written it, and it counts for nothing.
type oldAsides struct {
	payload []byte
	list    []ownAside
}

// ownAsides is what downloads of this name set aside.
func (f *File) ownAsides() []ownAside {
	if len(f.before.list) > 0 && f.key.fits(f.name, f.before.payload) {
		return slices.Concat(f.asides, f.before.list)
	}
	return f.asides
}

// removeAsides removes what downloads of this name set aside, as far as it is what they left there.
func (f *File) removeAsides() {
	f.asides, f.before = f.folder.removeOwn(f.ownAsides()), oldAsides{}
}

// removeOwn removes what was set aside, as far as it is what was left there, and returns what it could not.
func (d folder) removeOwn(list []ownAside) (left []ownAside) {
	return slices.DeleteFunc(slices.Clone(list), func(a ownAside) bool {
		there, err := d.isThere(a)
		return err == nil && (!there || d.remove(a.Name) == nil)
	})
}

// tell adds to what Aside says.
func (f *File) tell(name, why string) {
	if f.aside != "" {
		f.aside += "; "
	}
	f.aside += f.folder.join(name) + ": " + why
}

// SealWith makes f seal what it records from now on, and Sealed compare seals, with k.
func (f *File) SealWith(k *Key) { f.key = k }

// Reset sets the bytes aside as NAME.part.bad, replacing what an earlier run set aside, and starts empty. Begin has to
// follow. The reason is told by Aside.
func (f *File) Reset(reason string) error {
	if err := f.checkOpen("reset"); err != nil {
		return err
	}
	return f.setAside(reason, true)
}

// Restart throws the bytes away and starts empty: the file has changed at its origin. Begin has
// to follow.
func (f *File) Restart() error {
	if err := f.checkOpen("restart"); err != nil {
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

// OpenTemp opens a file without a name in dir, or in os.TempDir if dir is empty, for bytes that come before
// their turn in a stream. It can be written to at once and is gone when it is closed, also by a kill.
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

// Around makes a File of bytes that lie elsewhere: without a name, a journal or an earlier run. It can be written to at once.
func Around(part fsys.File) *File {
	f := &File{part: part, ledger: newLedger(writing)}
	f.ledger.unjournaled = true
	return f
}

// Prior says what an earlier run was downloading, if it left any bytes. They have not been looked at.
func (f *File) Prior() (Identity, bool) {
	if f.ledger.now() != inherited {
		return Identity{}, false
	}
	return f.prior.identity, true
}

// Recover takes over what an earlier run left. Each range that the journal has is read and its CRC-32C
// compared; what differs is missing, what is right is in Have. If ctx ends, nothing is decided.
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

// Inherited is how many bytes an earlier run has left, by what its journal says.
func (f *File) Inherited() int64 {
	if f.ledger.now() != inherited {
		return 0
	}
	info, err := f.part.Info()
	if err != nil {
		return 0
	}
	have := f.prior.have(info.Size)
	return have.Len()
}

// Sealed reports whether what Prior says was written with this key for this name. Else any program may have written it:
// Prior is no evidence then, and the bytes have to be proven otherwise.
func (f *File) Sealed() bool {
	return f.ledger.now() == inherited && f.key.fits(f.name, f.prior.payload)
}
