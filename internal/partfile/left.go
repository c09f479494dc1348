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

// The endings of the files that a download keeps beside the file itself.
const (
	partEnding    = ".part"
	journalEnding = ".part.journal"
	asideEnding   = ".bad"
)

// Left describes the files that an incomplete download left. No field has been compared with the bytes on disk.
type Left struct {
	Path     string // path of the part file
	Name     string // final name of the file
	Identity Identity
	Known    bool          // Identity is set; otherwise the bytes are of no use
	Have     byterange.Set // the bytes that the journal lists
	Changed  time.Time     // when the part file or the journal was last written
	InUse    bool          // another process has the download open
	PID      int           // ID of that process; 0 if unknown
	// Committed is set if the file itself is in place, judged by size and time. Due is set if work on the file remains
	// (Final.Due).
	Committed, Due bool

	payload, ending []byte // payloads of the identity and of the committed record
}

// SealedBy reports whether k sealed Identity for this name, and the committed record as well if Committed is set.
func (l *Left) SealedBy(k *Key) bool {
	return k.fits(l.Name, l.payload) && (!l.Committed || k.fits(l.Name, l.ending))
}

// Aside is a file that was set aside because it belongs to another file or cannot be trusted.
type Aside struct {
	Path    string
	Name    string // name that the file would have had
	Size    int64
	Changed time.Time
}

// List returns the incomplete downloads and the files set aside in a folder, sorted by name. It ignores files of other
// users, and part files without a journal, which any program may have written. To find out whether a download is in
// use, it briefly takes the lock, unless the kernel offers a better way.
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

// Look returns the files that an incomplete download of the file name left. name is relative to dir. Look reports false
// if it finds no such files.
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

// look reads the journal of name. It reports false if the journal or the part file is missing or not braid's. An error
// means that reading failed.
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
	case notOurs(err):
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

// asidesAlone reports whether the journal lists files that were set aside and nothing else.
func (h history) asidesAlone() bool {
	return h.known && h.identity.URLSum == "" && len(h.identity.asides) > 0 && len(h.runs) == 0 && h.committed == nil
}

// have returns the bytes that the journal lists and that lie within a part file of the given size.
func (h history) have(size int64) (set byterange.Set) {
	for _, r := range h.runs {
		if r.End <= size {
			set.Add(r.Range)
		}
	}
	return set
}

// regular returns the state of the entry called name. It reports false if the entry is missing or ours rejects it.
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

// gone reports whether err means that a file was removed or replaced meanwhile.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) }

func (d folder) asideAt(entry string) (a Aside, ok bool, err error) {
	name, ok := nameOfAside(entry)
	if !ok {
		return a, false, nil
	}
	info, ok, err := d.regular(entry)
	return Aside{Path: d.join(entry), Name: name, Size: info.Size, Changed: info.ModTime}, ok, err
}

// nameOfAside returns the final name that belongs to entry, and reports whether entry is the name of a file set aside.
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

// NameOf returns the final name that belongs to path, if path is a part file or a journal. Otherwise it returns path.
func NameOf(path string) string {
	for _, ending := range []string{journalEnding, partEnding} {
		if name, ok := strings.CutSuffix(path, ending); ok && name != "" && !strings.HasSuffix(name, "/") {
			return name
		}
	}
	return path
}

// Remove removes the incomplete download of the file name. If name is the name of a file that was set aside, it removes
// that file. It returns the removed paths. If braid left no such file, the error is fs.ErrNotExist. If another process
// has the download open, the error is an *InUseError.
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

// removeAlone removes the journal of name if it lists nothing but files that were set aside.
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
		return nil // the file lists something else, or is not a journal
	}
	return d.remove(name + journalEnding)
}

// removeLocked removes the part file of base and its locked journal f. The journal is removed last, as in Discard.
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
	if there && (h.known || part.Size == 0) { // without an identity, the owner of the bytes is unknown
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
