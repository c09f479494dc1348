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

// The journal is a header and records, all integers little-endian:
//
//	header:   8 bytes "braidjnl", 4 bytes version, 4 bytes CRC-32C of these 12
//	record:   4 bytes length of the payload, 1 byte kind, payload, 4 bytes CRC-32C of all before
//	identity: JSON
//	done:     8 bytes start, 8 bytes end, 4 bytes CRC-32C of the bytes of the part file
//	void:     8 bytes start, 8 bytes end
//	committed: JSON
//
// Records are only appended. The last identity holds. A void record takes back every earlier done record
// that has a byte in common with it. A committed record counts only as the last one, and only without a part file; versions that
// do not know it take it for a torn tail.
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

// appendRecord appends a record whose payload is written by fill.
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

// A history is what a journal says. None of it has been compared with the part file.
type history struct {
	identity  Identity
	payload   []byte     // of the identity
	known     bool       // there is an identity
	committed *committed // nil, or the last record
	ending    []byte     // the payload of that
	runs      []run      // done, in the order in which they were recorded; they may overlap
	size      int64      // bytes up to the end of the last good record, 0 without a header: the rest is a torn tail
}

// errForeign says that a journal is none, or one of another version.
var errForeign = errors.New("not a journal of this version")

// errTorn says that what follows is no record.
var errTorn = errors.New("torn record")

// readHistory reads a journal up to its end or to the first record that is not whole. The error is
// errForeign, or one of reading.
func readHistory(r io.Reader) (history, error) {
	br := bufio.NewReader(r)
	h := history{size: headerSize}
	head := make([]byte, headerSize)
	switch n, err := io.ReadFull(br, head); {
	case !bytes.HasPrefix(header, head[:n]):
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

// readRecord reads one record into buf, which it may grow. The error is errTorn or one of reading.
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

// apply does what a record says. The error is errTorn: a record that makes no sense was not written by us.
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
