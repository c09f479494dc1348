package scheduler

import (
	"iter"

	"braid/byterange"
)

// ranges has for every byte of the file one of three states: here, reserved for a running fetch, or missing.
type ranges struct {
	size     int64 // of the file; -1 while it is not known
	count    int64 // bytes in here
	here     byterange.Set
	reserved byterange.Set
	consumed int64 // how far the reader of a stream has come; -1: there is none
}

func newRanges(size int64, have byterange.Set) ranges {
	return ranges{size: size, count: have.Len(), here: have.Clone(), consumed: -1}
}

// setSize cuts everything off at the end of the file.
func (g *ranges) setSize(size int64) {
	g.size = size
	beyond := byterange.Range{Start: size, End: byterange.Unbounded}
	g.lose(beyond)
	g.free(beyond)
}

// missing counts the bytes that are not here, or is -1 while the size is not known.
func (g *ranges) missing() int64 {
	if g.size < 0 {
		return -1
	}
	return g.size - g.count
}

// gain notes that bytes are here. It counts those that were not before, and adds them to those that from brought.
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

// lose notes that bytes are missing again.
func (g *ranges) lose(r byterange.Range) {
	g.count -= g.among(r)
	g.here.Remove(r)
}

// among counts the bytes of r that are here.
func (g *ranges) among(r byterange.Range) (n int64) {
	for c := range g.here.Covered(r) {
		n += c.Len()
	}
	return n
}

// reserve keeps what of r is not here for a fetch.
func (g *ranges) reserve(r byterange.Range) {
	for gap := range g.here.Gaps(r) { // another may have brought a part of it meanwhile
		g.reserved.Add(gap)
	}
}

// free takes a reservation back.
func (g *ranges) free(r byterange.Range) { g.reserved.Remove(r) }

// busy reports whether a part of r is reserved.
func (g *ranges) busy(r byterange.Range) bool {
	for range g.reserved.Covered(r) {
		return true
	}
	return false
}

// gaps are the missing parts of r, in order.
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

// rest is r without what is here of its beginning and its end.
func (g *ranges) rest(r byterange.Range) (out byterange.Range) {
	for gap := range g.here.Gaps(r) {
		if out.Empty() {
			out.Start = gap.Start
		}
		out.End = gap.End
	}
	return out
}

// first is the first byte at or after off that is not here.
func (g *ranges) first(off int64) int64 { return g.here.FirstGap(off) }

// front is where ranges are given out first: at the first byte that is not here or, for a stream, where its reader is, so
// that the reader holds the sources back.
func (g *ranges) front() int64 {
	if g.consumed >= 0 {
		return g.consumed
	}
	return g.first(0)
}
