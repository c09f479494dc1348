package partfile

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"braid/internal/fsys"
)

// Reset declares the bytes of an earlier run to be useless. MakeWay, or else Begin, sets them aside as NAME.part.bad,
// replacing a file that an earlier run set aside; Aside returns the reason then. Until that they stay: if no other
// bytes come, Close and Discard leave them to the next run.
func (f *File) Reset(reason string) error {
	if err := f.checkOpen("reset"); err != nil {
		return err
	}
	if f.ledger.now() != inherited {
		return f.setAside(reason, true)
	}
	f.useless = reason
	return nil
}

// Useless reports whether Reset declared the bytes to be useless and they have not been set aside yet.
func (f *File) Useless() bool { return f.useless != "" && f.ledger.now() == inherited }

// MakeWay sets aside what Reset declared to be useless, and begins an empty part file.
func (f *File) MakeWay() error {
	if !f.Useless() {
		return nil
	}
	why := f.useless
	f.useless = ""
	return f.setAside(why, true)
}

// hasAsides reports whether a file still exists that a download of this name set aside.
func (f *File) hasAsides() bool {
	return f.key != nil && slices.ContainsFunc(f.ownAsides(), func(a ownAside) bool {
		there, err := f.folder.isThere(a)
		return there && err == nil
	})
}

// isThere reports whether the file a still exists, unchanged.
func (d folder) isThere(a ownAside) (bool, error) {
	info, ok, err := d.regular(a.Name)
	return ok && info.ID == a.ID && info.Size == a.Size && info.ModTime.Equal(a.ModTime), err
}

// ownAside is a file that a download of the same name set aside and that had a journal of braid's. It is removed when
// the download succeeds. Any other file with such a name stays.
type ownAside struct {
	Name    string
	ID      fsys.ID
	Size    int64
	ModTime time.Time
}

// mostAsides is the number of names that are tried for a file set aside.
const mostAsides = 99

// setAside renames the part file to NAME.part.bad and begins an empty one. own is set if a journal of braid's describes
// the bytes. If the process is stopped in between, the journal describes bytes that are gone.
func (f *File) setAside(why string, own bool) error {
	info, err := f.part.Info()
	if err != nil {
		return err
	}
	bad := f.partName() + asideEnding
	if info.Size > 0 {
		if own {
			f.removeAsides() // replace the files that an earlier run set aside
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

// announceAside records the file that is about to be set aside, so that its owner is known even if the process is
// stopped right after the rename. If the usual name is taken, the actual name is recorded after the rename.
func (f *File) announceAside(a ownAside) error {
	f.asides = append(f.asides, a)
	payload, err := f.asidesAlone()
	if err != nil || payload == nil {
		return err
	}
	return f.journal.begin(payload)
}

// renameAside renames an entry to a free name: NAME.part.bad, NAME.2.part.bad, and so on.
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
	return "", &NameError{f.folder.join(f.name + ending + asideEnding),
		"and 98 more such names exist: remove files that are not needed"}
}

// oldAsides is the list of files set aside in the journal that Open found, with the sealed payload. The list is ignored
// if the seal is missing or wrong, because any program may have written it.
type oldAsides struct {
	payload []byte
	list    []ownAside
}

// ownAsides returns the files that downloads of this name set aside.
func (f *File) ownAsides() []ownAside {
	if len(f.before.list) > 0 && f.key.fits(f.name, f.before.payload) {
		return slices.Concat(f.asides, f.before.list)
	}
	return f.asides
}

// removeAsides removes the files that downloads of this name set aside, if they are unchanged.
func (f *File) removeAsides() {
	f.asides, f.before = f.folder.removeOwn(f.ownAsides()), oldAsides{}
}

// removeOwn removes the files in list that are unchanged, and returns those it could not remove.
func (d folder) removeOwn(list []ownAside) (left []ownAside) {
	return slices.DeleteFunc(slices.Clone(list), func(a ownAside) bool {
		there, err := d.isThere(a)
		return err == nil && (!there || d.remove(a.Name) == nil)
	})
}

// tell appends to the text that Aside returns.
func (f *File) tell(name, why string) {
	if f.aside != "" {
		f.aside += "; "
	}
	f.aside += f.folder.join(name) + ": " + why
}
