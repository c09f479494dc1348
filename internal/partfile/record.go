package partfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"braid/byterange"
)

// The journal consists of a header and records. All integers are little-endian:
//
//	header:   8 bytes "braidjnl", 4 bytes version, 4 bytes CRC-32C of these 12
//	record:   4 bytes length of the payload, 1 byte kind, payload, 4 bytes CRC-32C of all before
//	identity: JSON
//	done:     8 bytes start, 8 bytes end, 4 bytes CRC-32C of the bytes of the part file
//	void:     8 bytes start, 8 bytes end
//	committed: JSON
//
// Records are only appended. The last identity record is valid. A void record cancels every earlier done record that
// overlaps it. A committed record is valid only as the last record and only without a part file. Versions of braid that
// do not know committed records treat such a record as a torn tail.
const (
	magic      = "braidjnl"
	version    = 1
	headerSize = 16
	maxPayload = 8 << 20
)

const (
	kindIdentity = iota + 1
	kindDone
	kindVoid
	kindCommitted
)

var header = func() []byte {
	h := binary.LittleEndian.AppendUint32([]byte(magic), version)
	return binary.LittleEndian.AppendUint32(h, checksum(h))
}()

// appendRecord appends a record. fill appends the payload.
func appendRecord(b []byte, kind byte, fill func([]byte) []byte) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0, kind)
	b = fill(b)
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start-5))
	return binary.LittleEndian.AppendUint32(b, checksum(b[start:]))
}

func appendIdentity(b, payload []byte) []byte {
	return appendRecord(b, kindIdentity, func(b []byte) []byte { return append(b, payload...) })
}

func appendDone(b []byte, r run) []byte {
	return appendRecord(b, kindDone, func(b []byte) []byte {
		return binary.LittleEndian.AppendUint32(appendRange(b, r.Range), r.crc)
	})
}

func appendVoid(b []byte, r byterange.Range) []byte {
	return appendRecord(b, kindVoid, func(b []byte) []byte { return appendRange(b, r) })
}

func appendRange(b []byte, r byterange.Range) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(r.Start))
	return binary.LittleEndian.AppendUint64(b, uint64(r.End))
}

// history is the content of a journal. No field has been compared with the part file.
type history struct {
	identity  Identity
	payload   []byte     // of the identity record
	known     bool       // identity is set
	committed *committed // nil, or the last record
	ending    []byte     // payload of committed
	runs      []run      // done records in order; they may overlap
	size      int64      // end of the last valid record, or 0 without a header; the rest is a torn tail
}

// errForeign is the error for a file that is not a journal, or a journal of an unknown version.
var errForeign = errors.New("not a journal of this version")

// A NewerError reports a journal that a newer braid has written. The journal and its part file are left alone.
type NewerError struct{ Format uint32 }

func (e *NewerError) Error() string {
	return fmt.Sprintf("its journal was written by a newer braid (format %d; this braid knows %d) and is left unchanged",
		e.Format, version)
}

// newer returns the version in head, the header of a journal. ok reports whether that version is later than that of this program.
func newer(head []byte) (v uint32, ok bool) {
	const end = headerSize - 4
	if len(head) < headerSize || string(head[:len(magic)]) != magic ||
		binary.LittleEndian.Uint32(head[end:]) != checksum(head[:end]) {
		return 0, false
	}
	v = binary.LittleEndian.Uint32(head[len(magic):])
	return v, v > version
}

// notOurs reports whether err, of readHistory, means that the journal cannot be used.
func notOurs(err error) bool {
	_, later := errors.AsType[*NewerError](err)
	return err == errForeign || later
}

// errTorn is the error for bytes that are not a complete, valid record.
var errTorn = errors.New("torn record")

// readHistory reads a journal up to its end or the first torn record. The error is errForeign, a *NewerError or
// an error of r.
func readHistory(r io.Reader) (history, error) {
	br := bufio.NewReader(r)
	h := history{size: headerSize}
	head := make([]byte, headerSize)
	switch n, err := io.ReadFull(br, head); {
	case !bytes.HasPrefix(header, head[:n]):
		if v, ok := newer(head[:n]); ok {
			return history{}, &NewerError{v}
		}
		return history{}, errForeign
	case err == io.EOF, err == io.ErrUnexpectedEOF:
		return history{}, nil
	case err != nil:
		return history{}, err
	}
	var buf []byte
	for {
		var err error
		if buf, err = readRecord(br, buf); err == nil {
			err = h.apply(buf[4], buf[5:len(buf)-4])
		}
		if err == errTorn {
			return h, nil
		}
		if err != nil {
			return history{}, err
		}
		h.size += int64(len(buf))
	}
}

// readRecord reads one record into buf, which it may grow. The error is errTorn or an error of r.
func readRecord(r io.Reader, buf []byte) ([]byte, error) {
	buf, err := readMore(r, buf[:0], 5)
	if err != nil {
		return buf, err
	}
	n := binary.LittleEndian.Uint32(buf)
	if n > maxPayload {
		return buf, errTorn
	}
	if buf, err = readMore(r, buf, int(n)+4); err != nil {
		return buf, err
	}
	sum := len(buf) - 4
	if checksum(buf[:sum]) != binary.LittleEndian.Uint32(buf[sum:]) {
		return buf, errTorn
	}
	return buf, nil
}

// readMore appends n bytes of r to buf.
func readMore(r io.Reader, buf []byte, n int) ([]byte, error) {
	have := len(buf)
	buf = slices.Grow(buf, n)[:have+n]
	_, err := io.ReadFull(r, buf[have:])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errTorn
	}
	return buf, err
}

// apply applies a record, kind and payload, to h. It returns errTorn for a record that braid would not have written.
func (h *history) apply(kind byte, payload []byte) error {
	h.committed, h.ending = nil, nil
	switch {
	case kind == kindIdentity:
		id, err := decodeIdentity(payload)
		if err != nil {
			return errTorn
		}
		h.identity, h.payload, h.known = id, bytes.Clone(payload), true
	case kind == kindDone && len(payload) == 20 && h.known:
		r := run{decodeRange(payload), binary.LittleEndian.Uint32(payload[16:])}
		if r.Start < 0 || r.Empty() {
			return errTorn
		}
		h.runs = append(h.runs, r)
	case kind == kindVoid && len(payload) == 16:
		void := decodeRange(payload)
		h.runs = slices.DeleteFunc(h.runs, func(r run) bool { return r.overlaps(void) })
	case kind == kindCommitted && h.known:
		c, err := decodeCommitted(payload)
		if err != nil {
			return errTorn
		}
		h.committed, h.ending = c, bytes.Clone(payload)
	default:
		return errTorn
	}
	return nil
}

func decodeRange(p []byte) byterange.Range {
	return byterange.Range{
		Start: int64(binary.LittleEndian.Uint64(p)),
		End:   int64(binary.LittleEndian.Uint64(p[8:])),
	}
}

func (r run) overlaps(o byterange.Range) bool { return !r.Intersect(o).Empty() }

func (r run) String() string { return fmt.Sprintf("%v crc %08x", r.Range, r.crc) }
