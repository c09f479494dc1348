package byterange

import (
	"iter"
	"slices"
	"sort"
	"strings"
)

// A Set is a set of bytes. The zero value is the empty set.
//
// Copies of a Set share memory. After Add or Remove has changed one copy, the other copies are invalid. Clone returns
// an independent copy. A Set must not change while an iterator over it is in use. Methods that do not change a Set have
// a value receiver, so that they can be called on the result of a function, and so that a Set in a larger value is
// printed as its ranges.
type Set struct {
	// ranges is sorted, has no empty ranges, and has a gap between any two ranges. So equal sets have equal slices, and
	// Start and End are both ascending.
	ranges []Range
}

// NewSet returns the union of rs.
func NewSet(rs ...Range) Set {
	var s Set
	for _, r := range rs {
		s.Add(r)
	}
	return s
}

// Add adds the bytes of r. It does not allocate if r only extends ranges of s.
func (s *Set) Add(r Range) {
	if r.Empty() {
		return
	}
	// Ranges i to j-1 overlap or touch r. They are merged with r.
	i := s.search(0, func(have Range) bool { return have.End >= r.Start })
	j := s.search(i, func(have Range) bool { return have.Start > r.End })
	if i == j {
		s.ranges = slices.Insert(s.ranges, i, r)
		return
	}
	s.ranges[i] = Range{min(r.Start, s.ranges[i].Start), max(r.End, s.ranges[j-1].End)}
	s.ranges = slices.Delete(s.ranges, i+1, j)
}

// Remove removes the bytes of r.
func (s *Set) Remove(r Range) {
	if r.Empty() {
		return
	}
	i, j := s.overlapping(r)
	if i == j {
		return
	}
	var kept [2]Range
	n := 0
	if left := (Range{s.ranges[i].Start, r.Start}); !left.Empty() {
		kept[n] = left
		n++
	}
	if right := (Range{r.End, s.ranges[j-1].End}); !right.Empty() {
		kept[n] = right
		n++
	}
	s.ranges = slices.Replace(s.ranges, i, j, kept[:n]...)
}

// Clone returns a copy of s that shares no memory with it.
func (s Set) Clone() Set { return Set{slices.Clone(s.ranges)} }

// Len returns the number of bytes in s.
func (s Set) Len() int64 {
	var n int64
	for _, r := range s.ranges {
		n += r.Len()
	}
	return n
}

// Count returns the number of ranges in s.
func (s Set) Count() int { return len(s.ranges) }

// Contains reports whether every byte of r is in s. It is true for an empty r.
func (s Set) Contains(r Range) bool { return r.Empty() || s.FirstGap(r.Start) >= r.End }

// FirstGap returns the first offset at or after off that is not in s.
func (s Set) FirstGap(off int64) int64 {
	i := s.search(0, func(have Range) bool { return have.End > off })
	if i < len(s.ranges) && s.ranges[i].Contains(off) {
		return s.ranges[i].End
	}
	return off
}

// All returns an iterator over the ranges of s in order.
func (s Set) All() iter.Seq[Range] { return slices.Values(s.ranges) }

// Covered returns an iterator over the parts of within that are in s, in order.
func (s Set) Covered(within Range) iter.Seq[Range] {
	return func(yield func(Range) bool) {
		i, j := s.overlapping(within)
		for _, have := range s.ranges[i:j] {
			if !yield(have.Intersect(within)) {
				return
			}
		}
	}
}

// Gaps returns an iterator over the parts of within that are not in s, in order.
func (s Set) Gaps(within Range) iter.Seq[Range] {
	return func(yield func(Range) bool) {
		at := within.Start
		for have := range s.Covered(within) {
			if at < have.Start && !yield(Range{at, have.Start}) {
				return
			}
			at = have.End
		}
		if at < within.End {
			yield(Range{at, within.End})
		}
	}
}

// String returns the ranges of s in the inclusive form of HTTP: "0-499,1000-". It returns "empty" for the empty set.
func (s Set) String() string {
	if len(s.ranges) == 0 {
		return Range{}.String()
	}
	parts := make([]string, len(s.ranges))
	for i, r := range s.ranges {
		parts[i] = r.String()
	}
	return strings.Join(parts, ",")
}

// overlapping returns i and j so that the ranges i to j-1 of s are those that overlap r.
func (s Set) overlapping(r Range) (i, j int) {
	if r.Empty() {
		return 0, 0
	}
	i = s.search(0, func(have Range) bool { return have.End > r.Start })
	j = s.search(i, func(have Range) bool { return have.Start >= r.End })
	return i, j
}

// search returns the index of the first range at or after index from for which past is true. If past is true for a
// range, it must be true for all later ranges.
func (s Set) search(from int, past func(Range) bool) int {
	return from + sort.Search(len(s.ranges)-from, func(i int) bool { return past(s.ranges[from+i]) })
}
