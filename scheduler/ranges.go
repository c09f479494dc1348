package scheduler

import (
	"iter"

	"braid/byterange"
)

// ranges stores for each byte of the file whether it is present, reserved for a running fetch, or missing.
type ranges struct {
	size     int64 // size of the file; -1 while unknown
	count    int64 // number of present bytes
	here     byterange.Set
	reserved byterange.Set
	consumed int64 // position of the reader of a stream; -1 without a reader
}

func newRanges(size int64, have byterange.Set) ranges {
	return ranges{size: size, count: have.Len(), here: have.Clone(), consumed: -1}
}

// setSize sets the size of the file, and removes everything beyond it.
func (g *ranges) setSize(size int64) {
	g.size = size
	beyond := byterange.Range{Start: size, End: byterange.Unbounded}
	g.lose(beyond)
	g.free(beyond)
}

// consume records that the reader of a stream is at front.
func (g *ranges) consume(front int64) { g.consumed = front }

// missing returns the number of bytes that are not present, or -1 while the size is unknown.
func (g *ranges) missing() int64 {
	if g.size < 0 {
		return -1
	}
	return g.size - g.count
}

// gain records r as present. It returns the number of bytes that were not present before, and adds these bytes to from.
func (g *ranges) gain(r byterange.Range, from *byterange.Set) (fresh int64) {
	for gap := range g.here.Gaps(r) {
		fresh += gap.Len()
		if from != nil {
			from.Add(gap)
		}
	}
	g.count += fresh
	g.here.Add(r)
	g.reserved.Remove(r)
	return fresh
}

// lose records r as missing.
func (g *ranges) lose(r byterange.Range) {
	g.count -= g.among(r)
	g.here.Remove(r)
}

// among returns the number of present bytes in r.
func (g *ranges) among(r byterange.Range) (n int64) {
	for c := range g.here.Covered(r) {
		n += c.Len()
	}
	return n
}

// reserve reserves the bytes of r that are not present.
func (g *ranges) reserve(r byterange.Range) {
	for gap := range g.here.Gaps(r) { // another fetch may have delivered a part of r
		g.reserved.Add(gap)
	}
}

// free cancels the reservation of r.
func (g *ranges) free(r byterange.Range) { g.reserved.Remove(r) }

// busy reports whether a part of r is reserved.
func (g *ranges) busy(r byterange.Range) bool {
	for range g.reserved.Covered(r) {
		return true
	}
	return false
}

// gaps yields the missing parts of r, in order.
func (g *ranges) gaps(r byterange.Range) iter.Seq[byterange.Range] {
	return func(yield func(byterange.Range) bool) {
		for gap := range g.here.Gaps(r) {
			for free := range g.reserved.Gaps(gap) {
				if !yield(free) {
					return
				}
			}
		}
	}
}

// rest returns r without the present bytes at its start and its end.
func (g *ranges) rest(r byterange.Range) (out byterange.Range) {
	for gap := range g.here.Gaps(r) {
		if out.Empty() {
			out.Start = gap.Start
		}
		out.End = gap.End
	}
	return out
}

// first returns the first offset at or after off whose byte is not present.
func (g *ranges) first(off int64) int64 { return g.here.FirstGap(off) }

// front returns where ranges are assigned first: at the first byte that is not present or, for a stream, at the
// position of its reader, so that a slow reader slows down the sources.
func (g *ranges) front() int64 {
	if g.consumed >= 0 {
		return g.consumed
	}
	return g.first(0)
}
