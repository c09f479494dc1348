package partfile

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"braid/internal/fsys"
)

// asides are the files that downloads of one name set aside. The journal lists them.
type asides struct {
	at      place
	journal *journal
	before  oldAsides
	own     []ownAside // files of this run
	told    string     // which files this run set aside, and why
	names   []string   // names of the files in told
}

// paths returns the paths of the files that this run and earlier runs set aside and that still exist.
func (a *asides) paths() (all []string) {
	names := slices.Clone(a.names)
	for _, o := range a.list() {
		if there, err := a.at.isThere(o); there && err == nil {
			names = append(names, o.Name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if _, there, err := a.at.regular(name); there && err == nil {
			all = append(all, a.at.join(name))
		}
	}
	return all
}

// any reports whether one of the files still exists.
func (a *asides) any() bool {
	return a.journal.key != nil && slices.ContainsFunc(a.list(), func(o ownAside) bool {
		there, err := a.at.isThere(o)
		return there && err == nil
	})
}

// isThere reports whether the file a still exists, unchanged.
func (d folder) isThere(a ownAside) (bool, error) {
	info, ok, err := d.regular(a.Name)
	return ok && info.ID == a.ID && info.Size == a.Size && info.ModTime.Equal(a.ModTime), err
}

// ownAside is a file that a download of the same name set aside and that was described by one of braid's journals. The
// file is removed when the download succeeds. Any other file with such a name stays.
type ownAside struct {
	Name    string
	ID      fsys.ID
	Size    int64
	ModTime time.Time
}

// mostAsides is the number of names that are tried for a file set aside.
const mostAsides = 99

// take renames the part file, which is open as part, to NAME.part.bad and returns the new name. An empty file is not
// renamed. own is set if one of braid's journals describes the bytes: then the files that earlier runs set aside are
// removed. If the process is stopped right after the rename, the journal describes bytes that are gone.
func (a *asides) take(part fsys.File, own bool) (name string, taken bool, err error) {
	info, err := part.Info()
	name = a.at.part() + asideEnding
	if err != nil || info.Size == 0 {
		return name, false, err
	}
	if own {
		a.remove()
		if err := a.announce(ownAside{name, info.ID, info.Size, info.ModTime.UTC()}); err != nil {
			return name, false, err
		}
	}
	if name, err = a.rename(a.at.part(), partEnding); err != nil {
		return name, false, err
	}
	if own {
		a.own[len(a.own)-1].Name = name
	}
	return name, true, nil
}

// takeJournal renames a journal that braid did not write.
func (a *asides) takeJournal() error {
	name, err := a.rename(a.at.journal(), journalEnding)
	if err == nil {
		a.tell(name, errForeign.Error())
	}
	return err
}

// announce records o, the file that is about to be set aside, so that the file is known as braid's even if the process
// is stopped right after the rename. If the usual name is taken, the actual name is recorded after the rename.
func (a *asides) announce(o ownAside) error {
	a.own = append(a.own, o)
	payload, err := a.payload()
	if err != nil || payload == nil {
		return err
	}
	return a.journal.begin(payload)
}

// payload returns the payload of an identity that lists only the files set aside. It returns nil if no files were set
// aside or the journal has no key.
func (a *asides) payload() ([]byte, error) {
	if a.journal.key == nil || len(a.list()) == 0 {
		return nil, nil
	}
	payload, err := Identity{Size: -1, asides: a.list()}.encode()
	return a.journal.sealed(payload), err
}

// rename renames from, an entry, to a free name: NAME.part.bad, NAME.2.part.bad, and so on.
func (a *asides) rename(from, ending string) (name string, err error) {
	if len(a.at.name+"."+strconv.Itoa(mostAsides)+ending+asideEnding) > maxEntry {
		ending = partEnding
	}
	for i := 1; i <= mostAsides; i++ {
		name = a.at.name + ending + asideEnding
		if i > 1 {
			name = a.at.name + "." + strconv.Itoa(i) + ending + asideEnding
		}
		if err = a.at.renameNew(from, name); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
	return "", &NameError{a.at.join(a.at.name + ending + asideEnding),
		"and 98 more such names exist: remove files that are not needed"}
}

// oldAsides is the list of files set aside in the journal that Open found, with the sealed payload. The list is ignored
// if the seal is missing or wrong, because any program may have written such a list.
type oldAsides struct {
	payload []byte
	list    []ownAside
}

// list returns the files of this run, and those of earlier runs if their list is sealed.
func (a *asides) list() []ownAside {
	if len(a.before.list) > 0 && a.journal.fits(a.before.payload) {
		return slices.Concat(a.own, a.before.list)
	}
	return a.own
}

// remove removes the listed files that are unchanged.
func (a *asides) remove() { a.own, a.before = a.at.removeOwn(a.list()), oldAsides{} }

// removeOwn removes the files in list that are unchanged, and returns the files that it could not remove.
func (d folder) removeOwn(list []ownAside) (left []ownAside) {
	return slices.DeleteFunc(slices.Clone(list), func(a ownAside) bool {
		there, err := d.isThere(a)
		return err == nil && (!there || d.remove(a.Name) == nil)
	})
}

// tell adds name and why to told, and name to names.
func (a *asides) tell(name, why string) {
	if a.told != "" {
		a.told += "; "
	}
	a.told += a.at.join(name) + ": " + why
	a.names = append(a.names, name)
}
