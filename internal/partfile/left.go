package partfile

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"syscall"
	"time"

	"braid/byterange"
	"braid/internal/fsys"
)

// The names of what a download leaves beside the file itself.
const (
	partEnding    = ".part"
	journalEnding = ".part.journal"
	asideEnding   = ".bad"
)

// A Left is what is there of a download that is not complete. Nothing of it has been compared with the bytes on disk.
type Left struct {
	Path     string // of the part file
	Name     string // that the file will have
	Identity Identity
	Known    bool          // there is an identity; without one the bytes are of no use
	Have     byterange.Set // what the journal says is there
	Changed  time.Time     // when one of the two files was written to last
	InUse    bool          // another process has it open
	PID      int           // which one; 0 if that cannot be told
	// Committed: the file itself is in place, by its size and date. Due: something is still to be done with it (Final.Due).
	Committed, Due bool

	payload, ending []byte // of the identity, and of the record that says that the file is in place
}

// SealedBy reports whether Identity was written with this key, for this name, and Committed as well, if the file is in place.
func (l *Left) SealedBy(k *Key) bool {
	return k.fits(l.Name, l.payload) && (!l.Committed || k.fits(l.Name, l.ending))
}

// An Aside is a file that was set aside, as it is of another file or cannot be trusted.
type Aside struct {
	Path    string
	Name    string // that the file would have had
	Size    int64
	Changed time.Time
}

// List is what is in a folder, by name. What is not ours is not in it: neither what belongs to others, nor a part file
// without a journal, which any program may have written. To find out whether one is in use, its lock is taken for a
// moment if the kernel does not tell otherwise.
func List(files fsys.FS, dir string) (left []Left, aside []Aside, err error) {
	d, err := openDir(files, dir)
	if err != nil {
		return nil, nil, err
	}
	defer d.close()
	names, err := d.dir.Names()
	if err != nil {
		return nil, nil, err
	}
	for _, entry := range names {
		if name, ok := strings.CutSuffix(entry, journalEnding); ok && name != "" {
			if l, ok, err := d.look(name); err != nil {
				return nil, nil, err
			} else if ok {
				left = append(left, l)
			}
		}
		if a, ok, err := d.asideAt(entry); err != nil {
			return nil, nil, err
		} else if ok {
			aside = append(aside, a)
		}
	}
	return left, aside, nil
}

// Look is what is there of the file name, which is relative to dir; ok is false if that is nothing.
func Look(files fsys.FS, dir, name string) (l Left, ok bool, err error) {
	d, base, err := openFolder(files, dir, name)
	if err != nil {
		return l, false, err
	}
	defer d.close()
	return d.look(base)
}

func openDir(files fsys.FS, dir string) (folder, error) {
	if dir == "" {
		dir = "."
	}
	files = fsys.Or(files)
	f, err := files.OpenDir(dir)
	return folder{files, f, dir}, err
}

// look reads a journal. Whatever is wrong with it or its part file makes it none of ours; the error is one of reading.
func (d folder) look(name string) (l Left, ok bool, err error) {
	l = Left{Path: d.join(name + partEnding), Name: name}
	journal, ok, err := d.regular(name + journalEnding)
	if !ok || err != nil {
		return l, false, err
	}
	part, there, err := d.regular(name + partEnding)
	if err != nil {
		return l, false, err
	}
	if l.Changed = journal.ModTime; there && part.ModTime.After(l.Changed) {
		l.Changed = part.ModTime
	}
	f, err := d.dir.Open(name + journalEnding)
	switch {
	case gone(err):
		return l, false, nil
	case err != nil:
		return l, false, err
	}
	defer f.Close()
	h, err := readHistory(io.NewSectionReader(f, 0, math.MaxInt64))
	switch {
	case err == errForeign:
		return l, false, nil
	case err != nil:
		return l, false, &fs.PathError{Op: "read", Path: f.Name(), Err: err}
	}
	l.Identity, l.payload, l.Known, l.Have = h.identity, h.payload, h.known, h.have(part.Size)
	if h.committed != nil {
		placed, ok, err := d.placed(name)
		if err != nil {
			return l, false, err
		}
		l.Committed, l.ending = ok && h.is(placed), h.ending
		if l.Due = l.Committed && h.committed.Due; l.Committed {
			l.Have = byterange.NewSet(byterange.Range{End: placed.Size})
		}
	}
	l.InUse, l.PID, err = fsys.Held(f)
	return l, l.InUse || there || !h.asidesAlone(), err
}

// asidesAlone reports whether a journal speaks of nothing but what was set aside.
func (h history) asidesAlone() bool {
	return h.known && h.identity.URLSum == "" && len(h.identity.asides) > 0 && len(h.runs) == 0 && h.committed == nil
}

// have is what a journal says is there of a part file of so many bytes.
func (h history) have(size int64) (set byterange.Set) {
	for _, r := range h.runs {
		if r.End <= size {
			set.Add(r.Range)
		}
	}
	return set
}

// regular looks at an entry. It is not ok if there is none, or none of ours.
func (d folder) regular(name string) (info fsys.Info, ok bool, err error) {
	info, err = d.dir.Stat(name)
	switch {
	case gone(err):
		return fsys.Info{}, false, nil
	case err != nil:
		return fsys.Info{}, false, err
	}
	if ours(name, info) != nil {
		return fsys.Info{}, false, nil
	}
	return info, true, nil
}

// gone reports whether err says that a file was removed or replaced meanwhile.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) }

func (d folder) asideAt(entry string) (a Aside, ok bool, err error) {
	name, ok := nameOfAside(entry)
	if !ok {
		return a, false, nil
	}
	info, ok, err := d.regular(entry)
	return Aside{Path: d.join(entry), Name: name, Size: info.Size, Changed: info.ModTime}, ok, err
}

// nameOfAside is the name that a file would have had which was set aside.
func nameOfAside(entry string) (name string, ok bool) {
	rest, ok := strings.CutSuffix(entry, asideEnding)
	if !ok {
		return "", false
	}
	for _, ending := range []string{journalEnding, partEnding} {
		if name, ok := strings.CutSuffix(rest, ending); ok && name != "" {
			return name, true
		}
	}
	return "", false
}

// NameOf is the name that a file is to have of which path is the part file or its journal, or path itself.
func NameOf(path string) string {
	for _, ending := range []string{journalEnding, partEnding} {
		if name, ok := strings.CutSuffix(path, ending); ok && name != "" && !strings.HasSuffix(name, "/") {
			return name
		}
	}
	return path
}

// Remove removes what is there of the file name, or, if that is the name of what was set aside, this. It returns the paths of
// what went. If there is nothing of ours, the error is fs.ErrNotExist; if another process has it open, an *InUseError.
func Remove(files fsys.FS, dir, name string) (removed []string, err error) {
	d, base, err := openFolder(files, dir, name)
	if err != nil {
		return nil, err
	}
	defer d.close()
	if a, ok, err := d.asideAt(base); ok && err == nil {
		if removed, err = d.removeAll(base); err == nil {
			err = d.removeAlone(a.Name)
		}
		return removed, err
	}
	_, ok, err := d.look(base)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, &fs.PathError{Op: "remove", Path: d.join(base), Err: fs.ErrNotExist}
	}
	f, _, err := d.openLocked(base+journalEnding, base+partEnding)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return d.removeLocked(f, base)
}

// removeAlone removes the journal of a name if it speaks of nothing but what was set aside.
func (d folder) removeAlone(name string) error {
	if _, ok, err := d.regular(name + journalEnding); !ok || err != nil {
		return err
	}
	f, isNew, err := d.openLocked(name+journalEnding, name+partEnding)
	if _, used := errors.AsType[*InUseError](err); used {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	_, there, err := d.regular(name + partEnding)
	if err != nil || there {
		return err
	}
	if h, err := readHistory(io.NewSectionReader(f, 0, math.MaxInt64)); !isNew && (err != nil || !h.asidesAlone()) {
		return nil // it is of something else, or none
	}
	return d.remove(name + journalEnding)
}

// removeLocked removes a part file and its journal, which is locked and goes last, as in Discard.
func (d folder) removeLocked(f fsys.File, base string) ([]string, error) {
	h, err := readHistory(io.NewSectionReader(f, 0, math.MaxInt64))
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: f.Name(), Err: err}
	}
	names := []string{base + journalEnding}
	part, there, err := d.regular(base + partEnding)
	if err != nil {
		return nil, err
	}
	if there && (h.known || part.Size == 0) { // nothing shows whose other bytes are
		names = slices.Insert(names, 0, base+partEnding)
	}
	return d.removeAll(names...)
}

func (d folder) removeAll(names ...string) (removed []string, err error) {
	for _, name := range names {
		if err := d.remove(name); err != nil {
			return removed, err
		}
		removed = append(removed, d.join(name))
	}
	return removed, nil
}
