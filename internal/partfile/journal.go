package partfile

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"math"
	"sync"
	"time"

	"braid/byterange"
	"braid/internal/fsys"
	"braid/verify"
)

// journal is the file NAME.part.journal, open and locked. Its records describe what happened, in order. mu is held
// while records are written. mu is acquired before the mutex of the ledger.
type journal struct {
	name string // final name of the download
	key  *Key   // seals the records

	mu       sync.Mutex
	file     fsys.File
	size     int64  // offset of the next record
	identity []byte // payload of the last identity record
	urlSum   string // URLSum of the identity in the last call of record
	buf      []byte // buffer of append, reused
	runs     []run  // buffer of flush, reused
}

// open opens and locks the journal at a place and reads it, unless it is new. If the file is not a journal, the error
// is errForeign.
func (j *journal) open(at place) (h history, isNew bool, err error) {
	if j.file, isNew, err = at.openLocked(at.journal(), at.part()); err != nil || isNew {
		return history{}, isNew, err
	}
	h, err = readHistory(io.NewSectionReader(j.file, 0, math.MaxInt64))
	if err != nil && err != errForeign {
		err = &fs.PathError{Op: "read", Path: j.file.Name(), Err: err}
	}
	return h, false, err
}

// sealed returns payload with the seal of the key, if there is one.
func (j *journal) sealed(payload []byte) []byte { return j.key.sealed(j.name, payload) }

// fits reports whether the key has sealed payload for this name.
func (j *journal) fits(payload []byte) bool { return j.key.fits(j.name, payload) }

// append writes the bytes that fill appends. If writing fails, the next append begins at the same offset, so that no
// record follows a torn record. The caller holds mu.
func (j *journal) append(fill func([]byte) []byte) error {
	j.buf = fill(j.buf[:0])
	if _, err := j.file.WriteAt(j.buf, j.size); err != nil {
		return err
	}
	j.size += int64(len(j.buf))
	return nil
}

// length returns the length of the journal.
func (j *journal) length() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size
}

// restart empties the journal and, if payload is not nil, records it as the identity.
func (j *journal) restart(payload []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.file.Truncate(0); err != nil {
		return err
	}
	j.size, j.identity = 0, nil
	err := j.append(func(b []byte) []byte {
		if b = append(b, header...); payload != nil {
			b = appendIdentity(b, payload)
		}
		return b
	})
	if err != nil {
		return err
	}
	j.identity = payload
	return j.file.Datasync()
}

// begin records payload, an identity, unless it equals the last recorded identity.
func (j *journal) begin(payload []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if bytes.Equal(payload, j.identity) {
		return nil
	}
	err := j.append(func(b []byte) []byte {
		if j.size == 0 { // a new journal: write the header and the first record at once
			b = append(b, header...)
		}
		return appendIdentity(b, payload)
	})
	if err != nil {
		return err
	}
	j.identity = payload
	return nil
}

// record records id, the identity of the file.
func (j *journal) record(id Identity) error {
	j.urlSum = id.URLSum
	payload, err := id.encode()
	if err != nil {
		return err
	}
	return j.begin(j.sealed(payload))
}

// amend changes the recorded identity with change, if the key has sealed it.
func (j *journal) amend(change func(*Identity)) error {
	if !j.fits(j.identity) {
		return nil
	}
	id, err := decodeIdentity(j.identity)
	if err != nil {
		return err
	}
	change(&id)
	payload, err := id.encode()
	if err != nil {
		return err
	}
	return j.begin(j.sealed(payload))
}

// commit records that the file with proof p, which was last changed at the time at, is about to get its final name. If
// due is set, work on the file remains.
func (j *journal) commit(p verify.Proof, at time.Time, due bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := committed{URLSum: j.urlSum, Size: p.Size(), ModTime: at.UTC(), Due: due}
	for _, d := range p.Digests() {
		if d.Algorithm() == verify.SHA256 {
			c.Digest = recordsOf([]verify.Claim{{Digest: d}})
		}
	}
	payload, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return j.append(func(b []byte) []byte {
		return appendRecord(b, kindCommitted, func(b []byte) []byte { return append(b, j.sealed(payload)...) })
	})
}

// flush records the runs of l with at least atLeast bytes.
func (j *journal) flush(l *ledger, atLeast int64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.runs = l.takeRuns(j.runs[:0], atLeast)
	if len(j.runs) == 0 {
		return nil
	}
	err := j.done(j.runs)
	if err != nil {
		l.requeue(j.runs)
	}
	return err
}

// done records runs. The caller holds mu.
func (j *journal) done(runs []run) error {
	return j.append(func(b []byte) []byte {
		for _, r := range runs {
			b = appendDone(b, r)
		}
		return b
	})
}

// history reads the journal back.
func (j *journal) history() (history, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return readHistory(io.NewSectionReader(j.file, 0, j.size))
}

// void records ranges of l that were revoked and have no pending writes, and syncs the journal.
func (j *journal) void(l *ledger, part io.ReaderAt, ranges byterange.Set) error {
	for r := range ranges.All() {
		if err := j.recordVoid(l, part, r); err != nil {
			return err
		}
	}
	return j.file.Datasync()
}

// recordVoid records that r is void. If r overlaps a part of a done record, new records for the remains replace that
// record. Their CRCs must be computed from part, because the CRC of a run says nothing about its parts. The new records
// are written before the void record, which does not touch them: if only some of these records reach the disk, no valid
// byte is lost.
func (j *journal) recordVoid(l *ledger, part io.ReaderAt, r byterange.Range) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.runs = l.takeRuns(j.runs[:0], 0)
	// If this fails, the runs are not queued again, because some of them may be void now.
	if err := j.done(j.runs); err != nil {
		return err
	}
	h, err := readHistory(io.NewSectionReader(j.file, 0, j.size))
	if err != nil {
		return err
	}
	left, err := remains(part, h.runs, r)
	if err != nil {
		return err
	}
	return j.append(func(b []byte) []byte {
		for _, rest := range left {
			b = appendDone(b, rest)
		}
		return appendVoid(b, r)
	})
}

// remains returns the parts outside void of each run that overlaps void, if the bytes of the run still have its CRC.
func remains(part io.ReaderAt, runs []run, void byterange.Range) (left []run, err error) {
	buf := make([]byte, copySize)
	for _, r := range runs {
		if !r.overlaps(void) {
			continue
		}
		rests := [2]run{
			{Range: byterange.Range{Start: r.Start, End: min(r.End, void.Start)}},
			{Range: byterange.Range{Start: max(r.Start, void.End), End: r.End}},
		}
		if rests[0].Empty() && rests[1].Empty() {
			continue
		}
		ok, err := holds(part, r, buf, rests[:])
		if err != nil {
			return nil, err
		}
		for _, rest := range rests {
			if ok && !rest.Empty() {
				left = append(left, rest)
			}
		}
	}
	return left, nil
}
