// Package byterange implements byte ranges, sets of them, and the two header fields that contain them (RFC 9110,
// section 14).
//
// A Range is half-open: [Start, End). The inclusive form of HTTP appears only in text.
//
// The package does not store bytes and does not check whether a response has the requested range.
//
//	var have byterange.Set
//	have.Add(byterange.Range{Start: 0, End: 500})
//	for gap := range have.Gaps(byterange.Range{Start: 0, End: size}) {
//		req.Header.Set("Range", gap.Field())
//	}
package byterange

import (
	"math"
	"strconv"
)

// Unbounded is the End of a range that runs to the end of a file of unknown size.
const Unbounded = math.MaxInt64

// A Range is the bytes from offset Start up to, but not including, offset End. Offsets are never negative. A range with
// an End that is not greater than its Start is empty.
type Range struct{ Start, End int64 }

// Len returns the number of bytes in r.
func (r Range) Len() int64 { return max(0, r.End-r.Start) }

// Empty reports whether r has no bytes.
func (r Range) Empty() bool { return r.End <= r.Start }

// Contains reports whether the byte at off is in r.
func (r Range) Contains(off int64) bool { return r.Start <= off && off < r.End }

// Intersect returns the intersection of r and o, which is the zero Range if they do not overlap.
func (r Range) Intersect(o Range) Range {
	both := Range{max(r.Start, o.Start), min(r.End, o.End)}
	if both.Empty() {
		return Range{}
	}
	return both
}

// String returns r in the inclusive form of HTTP: "0-499", "500-" if r is unbounded, and "empty" for every empty range.
func (r Range) String() string {
	switch {
	case r.Empty():
		return "empty"
	case r.End == Unbounded:
		return strconv.FormatInt(r.Start, 10) + "-"
	}
	return strconv.FormatInt(r.Start, 10) + "-" + strconv.FormatInt(r.End-1, 10)
}

// Field returns the value of a Range field that requests r: "bytes=0-499", "bytes=500-" (RFC 9110, section 14.1.2). It
// returns "" for an empty range, which a field cannot request.
func (r Range) Field() string {
	if r.Empty() {
		return ""
	}
	return unit + "=" + r.String()
}
