package scheduler

import "braid/byterange"

// alignment is the unit in which a mirror delivers bytes: single bytes in ascending order, or whole pieces in any
// order. For a mirror that delivers pieces, a part of a piece costs as much as the whole piece. So its ranges are
// aligned to pieces, if possible.
type alignment struct{ length, lead int64 }

func newAlignment(length, lead int64) alignment { return alignment{max(length, 1), lead} }

// whole reports whether bytes are delivered as whole pieces.
func (a alignment) whole() bool { return a.length > 1 }

// up returns the first boundary at or after off.
func (a alignment) up(off int64) int64 {
	if rest := (off - a.lead) % a.length; rest > 0 {
		return off + a.length - rest
	}
	return off
}

// down returns the last boundary at or before off, but not less than 0.
func (a alignment) down(off int64) int64 { return max(off-(off-a.lead)%a.length, 0) }

// within returns a range of about want bytes of gap, from start on, that is aligned to pieces. The result has at least
// one piece, and leaves no short rest of gap.
func (a alignment) within(gap byterange.Range, start, want int64) byterange.Range {
	start = max(a.down(start), gap.Start)
	end := min(max(a.up(start+want), a.up(start+1)), gap.End)
	if rest := gap.End - end; rest < a.length/2 {
		end = gap.End
	}
	return byterange.Range{Start: start, End: end}
}
