package partfile

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"runtime"
	"slices"
	"testing"

	"braid/byterange"
)

// naive reads a journal with a simple, slow algorithm, and returns which bytes of part are valid according to it.
func naive(journal, part []byte) []bool {
	type record struct {
		start, end int64
		crc        uint32
	}
	table := crc32.MakeTable(crc32.Castagnoli)
	le := binary.LittleEndian
	claimed := make([]bool, len(part))
	if len(journal) < 16 || string(journal[:8]) != "braidjnl" || le.Uint32(journal[8:]) != 1 ||
		le.Uint32(journal[12:]) != crc32.Checksum(journal[:12], table) {
		return claimed
	}
	var live []record
	known := false
	for rest := journal[16:]; len(rest) >= 9; {
		n := int(le.Uint32(rest))
		if n > 8<<20 || len(rest) < n+9 || le.Uint32(rest[n+5:]) != crc32.Checksum(rest[:n+5], table) {
			break
		}
		kind, p := rest[4], rest[5:n+5]
		rest = rest[n+9:]
		if kind == 1 {
			if _, err := decodeIdentity(p); err != nil {
				break
			}
			known = true
			continue
		}
		if len(p) < 16 {
			break
		}
		start, end := int64(le.Uint64(p)), int64(le.Uint64(p[8:]))
		if kind == 2 && known && n == 20 && 0 <= start && start < end {
			live = append(live, record{start, end, le.Uint32(p[16:])})
			continue
		}
		if kind != 3 || n != 16 {
			break
		}
		live = slices.DeleteFunc(live, func(r record) bool { return start < end && r.start < end && start < r.end })
	}
	for _, r := range live {
		if r.end <= int64(len(part)) && crc32.Checksum(part[r.start:r.end], table) == r.crc {
			for i := r.start; i < r.end; i++ {
				claimed[i] = true
			}
		}
	}
	return claimed
}

// checkClaims compares the bytes taken over from a journal with the result of naive.
func checkClaims(t *testing.T, journal, part []byte) {
	h, err := readHistory(bytes.NewReader(journal))
	if err != nil && err != errForeign {
		t.Fatal(err)
	}
	if h.size > int64(len(journal)) {
		t.Fatalf("%d of %d bytes are good", h.size, len(journal))
	}
	have, err := matching(t.Context(), bytes.NewReader(part), h.runs)
	if err != nil {
		t.Fatal(err)
	}
	for r := range have.All() {
		if r.Start < 0 || r.End > int64(len(part)) {
			t.Fatalf("claims %v of %d bytes", r, len(part))
		}
	}
	for i, want := range naive(journal, part) {
		if got := have.Contains(span(int64(i), int64(i)+1)); got != want {
			t.Fatalf("byte %d: claimed %v, want %v", i, got, want)
		}
	}
	// The valid part of the journal stays valid without its torn tail.
	again, err := readHistory(bytes.NewReader(journal[:h.size]))
	if err == nil && (again.size != h.size || !slices.Equal(again.runs, h.runs)) {
		t.Fatalf("without its tail the journal says %v, before %v", again.runs, h.runs)
	}
}

func seedJournal() []byte {
	b := appendIdentity(slices.Clone(header), []byte(`{"URL":"u","Size":-1}`))
	part := []byte("0123456789")
	for _, r := range []byterange.Range{span(0, 4), span(4, 10), span(2, 5)} {
		b = appendDone(b, run{r, checksum(part[r.Start:r.End])})
	}
	return appendVoid(b, span(0, 1))
}

// FuzzJournal reads arbitrary bytes as a journal.
func FuzzJournal(f *testing.F) {
	f.Add(seedJournal(), []byte("0123456789"))
	f.Add(seedJournal(), []byte("01234567"))
	f.Add(appendDone(seedJournal(), run{Range: span(-4, 4)}), []byte("0123456789"))
	f.Add(header, []byte(nil))
	f.Add(header[:7], []byte("x"))
	f.Fuzz(checkClaims)
}

// FuzzRecords writes a journal of well-formed records, with right and wrong CRCs, from a script of five bytes each, and
// then damages it in one place.
func FuzzRecords(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 0, 2, 0, 9, 0, 0, 2, 4, 5, 0, 0, 3, 0, 1, 0, 0, 2, 0, 2, 0, 0}, []byte("0123456789"),
		uint16(60000), byte(0))
	f.Add([]byte{2, 0, 9, 0, 0, 1, 0, 0, 0, 0}, []byte("0123456789"), uint16(60000), byte(0)) // without an identity
	f.Add([]byte{1, 0, 0, 0, 0, 2, 0, 9, 0, 1, 2, 250, 50, 0, 0}, []byte("0123456789"), uint16(30), byte(4))
	f.Fuzz(func(t *testing.T, script, part []byte, where uint16, flip byte) {
		b := slices.Clone(header)
		for ; len(script) >= 5; script = script[5:] {
			r := span(int64(script[1]), int64(script[1])+int64(int8(script[2])))
			switch script[0] % 6 {
			case 0, 1:
				id, _ := json.Marshal(identityRecord{Size: int64(int8(script[3]))})
				b = appendIdentity(b, id)
			case 2, 3, 4:
				in := r.Intersect(span(0, int64(len(part))))
				b = appendDone(b, run{r, checksum(part[in.Start:in.End]) ^ uint32(script[4]>>6)})
			case 5:
				b = appendVoid(b, r)
			}
		}
		if int(where) < len(b) {
			b[where] ^= flip
		}
		checkClaims(t, b, part)
	})
}

// No memory is allocated for a length that was damaged.
func TestLongRecord(t *testing.T) {
	b := append(binary.LittleEndian.AppendUint32(slices.Clone(header), 1<<29), kindIdentity)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	h, err := readHistory(bytes.NewReader(b))
	runtime.ReadMemStats(&after)
	if err != nil || h.size != headerSize {
		t.Errorf("%d bytes are good, %v", h.size, err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 2*maxPayload {
		t.Errorf("%d bytes were allocated", n)
	}
}
