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

// committed is the last record of a journal. It describes a complete file that is about to get its final name. If the
// run is stopped before it removes the journal, the record tells the next run which file is in place.
type committed struct {
	URLSum  string // URLSum of the identity
	Size    int64
	ModTime time.Time
	Digest  []claimRecord // SHA-256 of all bytes; empty if the proof has no SHA-256: then size and time identify the file
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

// Committed is a file in place together with its journal, which is locked. The journal is still there because the run
// was stopped before it removed it, or because work on the file remains (Final.Due). All methods may be called on a nil
// *Committed.
type Committed struct {
	at   place
	file fsys.File // the journal
	info fsys.Info // of the file in place
	h    history
}

// OpenCommitted opens and locks the journal of the file name, which is relative to dir, if the file exists and its part
// file is missing or empty. Otherwise it returns nil. If another process has locked the journal, the error is an
// *InUseError.
func OpenCommitted(files fsys.FS, dir, name string) (*Committed, error) {
	at, err := openPlace(files, dir, name)
	if err != nil {
		return nil, err
	}
	c := &Committed{at: at}
	ok, err := c.open()
	if err != nil || !ok {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Committed) open() (ok bool, err error) {
	if _, ok, err := c.at.regular(c.at.journal()); !ok || err != nil {
		return false, err
	}
	var isNew bool
	if c.file, isNew, err = c.at.openLocked(c.at.journal(), c.at.part()); err != nil {
		return false, err
	}
	if isNew { // another process removed the journal meanwhile
		return false, c.at.remove(c.at.journal())
	}
	if c.info, ok, err = c.at.placed(c.at.name); !ok || err != nil {
		return false, err
	}
	c.h, err = readHistory(io.NewSectionReader(c.file, 0, math.MaxInt64))
	if notOurs(err) {
		return false, nil
	}
	return err == nil, err
}

// is reports whether the file described by info has the size and time of the committed file.
func (h *history) is(info fsys.Info) bool {
	return h.committed != nil && h.committed.Size == info.Size && h.committed.ModTime.Equal(info.ModTime)
}

// Identity returns the identity of the file, if the journal records that the file was committed.
func (c *Committed) Identity() (id Identity, ok bool) {
	if c == nil || c.h.committed == nil || c.h.committed.Size != c.info.Size || c.h.committed.URLSum != c.h.identity.URLSum {
		return Identity{}, false
	}
	return c.h.identity, true
}

// Sealed reports whether k sealed both the identity and the committed record, for this name.
func (c *Committed) Sealed(k *Key) bool {
	return c != nil && k.fits(c.at.name, c.h.payload) && k.fits(c.at.name, c.h.ending)
}

// Is reports whether the file of the proof p has the bytes that were committed.
func (c *Committed) Is(p verify.Proof) bool {
	if c == nil || c.h.committed == nil || p.Size() != c.h.committed.Size {
		return false
	}
	d := c.h.committed.digest
	return d.IsZero() && c.Unchanged() || slices.Contains(p.Digests(), d)
}

// Unchanged reports whether the file in place has the size and time of the committed file. It does not read the
// content.
func (c *Committed) Unchanged() bool { return c != nil && c.h.is(c.info) }

// Due reports whether work on the committed file remains.
func (c *Committed) Due() bool { return c != nil && c.h.committed != nil && c.h.committed.Due }

// ClearAsides removes the files that downloads of this name set aside, if k sealed the journal that lists them. These
// files are of no use any more, because the file is in place.
func (c *Committed) ClearAsides(k *Key) {
	if c != nil && len(c.h.identity.asides) > 0 && k.fits(c.at.name, c.h.payload) {
		c.at.removeOwn(c.h.identity.asides)
	}
}

// Clear removes the journal. It also removes the part file's name, which is a second link to the file if the final name
// was made by link(2).
func (c *Committed) Clear() error {
	if c == nil {
		return nil
	}
	if err := c.at.remove(c.at.part()); err != nil {
		return err
	}
	return c.at.remove(c.at.journal())
}

// Clear removes the journal of the file name, which is relative to dir, as [Committed.Clear] does, but without reading
// the journal. It does nothing if the file does not exist or its part file has bytes.
func Clear(files fsys.FS, dir, name string) error {
	at, err := openPlace(files, dir, name)
	if err != nil {
		return err
	}
	c := &Committed{at: at}
	if c.file, err = at.dir.Open(at.journal()); errors.Is(err, fs.ErrNotExist) {
		return c.Close()
	}
	held, ok := false, false
	if err == nil {
		_, held, err = at.lock(c.file, at.journal(), at.part())
	}
	if held && err == nil {
		_, ok, err = at.placed(at.name)
	}
	if ok && err == nil {
		err = c.Clear()
	}
	return errors.Join(err, c.Close())
}

// Close closes the journal, which unlocks it.
func (c *Committed) Close() error {
	if c == nil {
		return nil
	}
	var err error
	if c.file != nil {
		err = c.file.Close()
	}
	return errors.Join(err, c.at.close())
}
