package partfile

import (
	"braid/byterange"
	"cmp"
	"context"
	"hash/crc32"
	"io"
	"slices"
)

// castagnoli is the table of CRC-32C (RFC 3720, section 12.1), for which processors have instructions.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(p []byte) uint32 { return crc32.Checksum(p, castagnoli) }

// A CRC is the remainder of a polynomial over GF(2), stored with the highest power in the lowest bit. The functions
// below combine the CRCs of adjacent byte ranges without reading the bytes again, so that concurrent writers can
// compute their CRCs independently.

// x0 is the polynomial 1, and x1 is x.
const x0, x1 = 1 << 31, 1 << 30

// shifts[k] is x to the power of 8·2^k modulo the polynomial of CRC-32C. Multiplying a CRC by it moves the CRC by 2^k
// bytes.
var shifts = func() (t [63]uint32) {
	p := uint32(x1)
	for range 3 {
		p = multiply(p, p)
	}
	for k := range t {
		t[k] = p
		p = multiply(p, p)
	}
	return t
}()

// multiply returns a·b modulo the polynomial of CRC-32C.
func multiply(a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a&x0 != 0 {
			product ^= b
		}
		b = b>>1 ^ crc32.Castagnoli&-(b&1)
	}
	return product
}

// join returns the CRC of a range of bytes from the CRCs of its two parts: a, and b of the last n bytes.
func join(a, b uint32, n int64) uint32 {
	for k := 0; n > 0; k, n = k+1, n>>1 {
		if n&1 != 0 {
			a = multiply(shifts[k], a)
		}
	}
	return a ^ b
}

// copySize is the size of the buffer for reading the part file.
const copySize = 128 << 10

// holds reads the range r from part and reports whether the bytes have the CRC of r. It also computes the CRCs of
// parts, which must lie inside r.
func holds(part io.ReaderAt, r run, buf []byte, parts []run) (bool, error) {
	var sum uint32
	for at := r.Start; at < r.End; {
		p := buf[:min(int64(len(buf)), r.End-at)]
		n, err := part.ReadAt(p, at)
		if n < len(p) {
			if err == io.EOF {
				return false, nil
			}
			return false, err
		}
		here := byterange.Range{Start: at, End: at + int64(n)}
		sum = crc32.Update(sum, castagnoli, p)
		for i := range parts {
			if x := parts[i].Intersect(here); !x.Empty() {
				parts[i].crc = crc32.Update(parts[i].crc, castagnoli, p[x.Start-at:x.End-at])
			}
		}
		at = here.End
	}
	return sum == r.crc, nil
}

// matching returns the ranges of the runs with a CRC that the bytes in part match. It reads part in ascending order.
func matching(ctx context.Context, part io.ReaderAt, runs []run) (right byterange.Set, err error) {
	runs = slices.SortedFunc(slices.Values(runs), func(a, b run) int { return cmp.Compare(a.Start, b.Start) })
	buf := make([]byte, copySize)
	for _, r := range runs {
		if err := ctx.Err(); err != nil {
			return right, err
		}
		ok, err := holds(part, r, buf, nil)
		if err != nil {
			return right, err
		}
		if ok {
			right.Add(r.Range)
		}
	}
	return right, nil
}
