package scheduler

import "braid/byterange"

// An alignment is how a mirror gives its bytes: any of them, in order, or whole pieces of its own, in any order. A part of a
// piece costs all of it, so ranges of such a mirror begin and end where its pieces do, as far as they can.
type alignment struct{ length, lead int64 }

func newAlignment(length, lead int64) alignment { return alignment{max(length, 1), lead} }

// whole reports whether bytes come in pieces.
func (a alignment) whole() bool { return a.length > 1 }

// up is the first boundary at or after off.
func (a alignment) up(off int64) int64 {
	if rest := (off - a.lead) % a.length; rest > 0 {
		return off + a.length - rest
	}
	return off
}

// down is the last boundary at or before off, but not below 0.
func (a alignment) down(off int64) int64 { return max(off-(off-a.lead)%a.length, 0) }

// within is about want bytes of gap from start on, as pieces: one at least, and no part of one that can be left to others.
func (a alignment) within(gap byterange.Range, start, want int64) byterange.Range {
	start = max(a.down(start), gap.Start)
	end := min(max(a.up(start+want), a.up(start+1)), gap.End)
	if rest := gap.End - end; rest < a.length/2 {
		end = gap.End
	}
	return byterange.Range{Start: start, End: end}
}
