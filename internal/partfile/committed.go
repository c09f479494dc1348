package partfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"time"

	"braid/internal/fsys"
	"braid/verify"
)

// A committed is the record that is the last of a journal: a complete file, which gets its final name next. Where a run
// is stopped after that and before it removed the journal, it tells the next one what the file is.
type committed struct {
	URLSum  string // of the identity
	Size    int64
	ModTime time.Time
	Digest  []claimRecord // the SHA-256 of all bytes; none for a proof that has none, and then size and date stand for it
	Due     bool          `json:",omitempty"` // see Final.Due
	digest  verify.Digest
}

func decodeCommitted(p []byte) (*committed, error) {
	c := &committed{}
	if err := json.Unmarshal(p, c); err != nil {
		return nil, err
	}
	claims, err := claimsOf(c.Digest)
	if err != nil || len(claims) > 1 || c.Size < 0 {
		return nil, fmt.Errorf("a committed file with the size %d and the digests %v: %w", c.Size, c.Digest, err)
	}
	if len(claims) == 1 {
		c.digest = claims[0].Digest
	}
	return c, nil
}

// A Committed is a file that is in place, and its journal, which is locked: the run that put it there was stopped
// before it removed the journal, or something is due with the file (Final.Due). All methods may be called on nil, which
// is none.
type Committed struct {
	folder folder
	name   string
	file   fsys.File // the journal
	info   fsys.Info // of the file that is in place
	h      history
}

// OpenCommitted opens the journal of the file name, which is relative to dir, if the file is there and its part file
// has no bytes. Else it returns nil. If another process has it, the error is an *InUseError.
func OpenCommitted(files fsys.FS, dir, name string) (*Committed, error) {
	d, base, err := openFolder(files, dir, name)
	if err != nil {
		return nil, err
	}
	c := &Committed{folder: d, name: base}
	ok, err := c.open()
	if err != nil || !ok {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Committed) open() (ok bool, err error) {
	journal := c.name + journalEnding
	if _, ok, err := c.folder.regular(journal); !ok || err != nil {
		return false, err
	}
	var isNew bool
	if c.file, isNew, err = c.folder.openLocked(journal, c.name+partEnding); err != nil {
		return false, err
	}
	if isNew { // another process removed it meanwhile
		return false, c.folder.remove(journal)
	}
	if c.info, ok, err = c.folder.placed(c.name); !ok || err != nil {
		return false, err
	}
	c.h, err = readHistory(io.NewSectionReader(c.file, 0, math.MaxInt64))
	if err == errForeign {
		return false, nil
	}
	return err == nil, err
}

// is reports whether info is, by size and date, of the file that was committed.
func (h *history) is(info fsys.Info) bool {
	return h.committed != nil && h.committed.Size == info.Size && h.committed.ModTime.Equal(info.ModTime)
}

// Identity is what the file is, if the journal says that it was committed.
func (c *Committed) Identity() (id Identity, ok bool) {
	if c == nil || c.h.committed == nil || c.h.committed.Size != c.info.Size || c.h.committed.URLSum != c.h.identity.URLSum {
		return Identity{}, false
	}
	return c.h.identity, true
}

// Sealed reports whether all of that was written with this key for this name.
func (c *Committed) Sealed(k *Key) bool {
	return c != nil && k.fits(c.name, c.h.payload) && k.fits(c.name, c.h.ending)
}

// Is reports whether the file that p is about has the bytes that were committed.
func (c *Committed) Is(p verify.Proof) bool {
	if c == nil || c.h.committed == nil || p.Size() != c.h.committed.Size {
		return false
	}
	d := c.h.committed.digest
	return d.IsZero() && c.Unchanged() || slices.Contains(p.Digests(), d)
}

// Unchanged reports whether the file is, by size and date, the one that was committed. Nothing was read for that.
func (c *Committed) Unchanged() bool { return c != nil && c.h.is(c.info) }

// Due reports whether something is due with what was committed.
func (c *Committed) Due() bool { return c != nil && c.h.committed != nil && c.h.committed.Due }

// ClearAsides removes what downloads of that name set aside, by the word of a journal that this key seals: the file is there.
func (c *Committed) ClearAsides(k *Key) {
	if c != nil && len(c.h.identity.asides) > 0 && k.fits(c.name, c.h.payload) {
		c.folder.removeOwn(c.h.identity.asides)
	}
}

// Clear removes the journal, and the second name that the file has where it got its final one by a link.
func (c *Committed) Clear() error {
	if c == nil {
		return nil
	}
	if err := c.folder.remove(c.name + partEnding); err != nil {
		return err
	}
	return c.folder.remove(c.name + journalEnding)
}

// Clear removes the journal of the file name, which is relative to dir, if the file is there and its part file has no bytes, as
// [Committed.Clear] does, and reads none of it.
func Clear(files fsys.FS, dir, name string) error {
	d, base, err := openFolder(files, dir, name)
	if err != nil {
		return err
	}
	c := &Committed{folder: d, name: base}
	if c.file, err = d.dir.Open(base + journalEnding); errors.Is(err, fs.ErrNotExist) {
		return c.Close()
	}
	held, ok := false, false
	if err == nil {
		held, err = d.lock(c.file, base+journalEnding, base+partEnding)
	}
	if held && err == nil {
		_, ok, err = d.placed(base)
	}
	if ok && err == nil {
		err = c.Clear()
	}
	return errors.Join(err, c.Close())
}

// Close unlocks the journal.
func (c *Committed) Close() error {
	if c == nil {
		return nil
	}
	var err error
	if c.file != nil {
		err = c.file.Close()
	}
	return errors.Join(err, c.folder.close())
}
