package scheduler

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"braid/byterange"
)

// pieces are the parts of the file that can be checked separately, because their digests are known (RFC 5854, section
// 4.1.3). The zero value has no pieces. Sizes and lengths come from outside and may be as large as their type allows,
// so no offset beyond the end of the file is computed.
type pieces struct {
	size     int64         // size of the file
	length   int64         // length of each piece except the last; 0 if unknown
	lead     int64         // part of the first piece that lies before the file
	asked    byterange.Set // pieces whose check was requested and did not fail
	open     int           // checks without a result
	disputed []disputed    // pieces to be fetched from one mirror, in order
}

// disputed is a piece that was wrong and had come from several mirrors, so that it is unknown which mirror is at fault.
// One mirror alone fetches the piece again. The next check decides about that mirror and, if the piece had come from
// two mirrors, about the other mirror.
type disputed struct {
	piece   byterange.Range
	by      []*mirror // mirrors that together delivered the wrong piece; nil if unknown
	sole    *mirror   // mirror that fetches the piece, also after an interrupted answer; nil if not chosen yet
	reached int64     // offset that earlier attempts reached
	taken   int       // number of times that it was taken from a mirror with a slow tail
}

// belongsToAnother reports whether a mirror other than m fetches the piece, or will fetch it when that mirror is free.
func (d *disputed) belongsToAnother(m *mirror, now time.Time) bool {
	return d.sole != m && d.sole != nil && d.sole.open() && d.sole.usable(now)
}

func newPieces(ev PiecesKnown, size int64) pieces {
	if ev.Length <= 0 || ev.Lead < 0 || ev.Lead >= ev.Length || size <= 0 {
		return pieces{}
	}
	return pieces{size: size, length: ev.Length, lead: ev.Lead}
}

// at returns the range of piece i, cut to the file.
func (p *pieces) at(i int64) byterange.Range {
	start, end := i*p.length-p.lead, p.size
	if p.size-start > p.length {
		end = start + p.length
	}
	return byterange.Range{Start: max(0, start), End: end}
}

// index returns the number of the piece that contains the byte at off.
func (p *pieces) index(off int64) int64 { return (off + p.lead) / p.length }

// next returns the next boundary of a piece at or after off. It returns off if no boundary before limit is known.
func (p *pieces) next(off, limit int64) int64 {
	if p.length == 0 {
		return off
	}
	if past := (off + p.lead) % p.length; past > 0 && p.length-past < limit-off {
		return off + p.length - past
	}
	return off
}

// complete returns the checks of the pieces that overlap r, are present, and were not checked yet. It records them as
// requested.
func (p *pieces) complete(here *byterange.Set, r byterange.Range) (checks []Check) {
	r.End = min(r.End, p.size)
	if p.length == 0 || r.Empty() {
		return nil
	}
	for i, last := p.index(r.Start), p.index(r.End-1); i <= last; i++ {
		if piece := p.at(i); here.Contains(piece) && !p.asked.Contains(piece) {
			p.asked.Add(piece)
			p.open++
			checks = append(checks, Check{i, piece})
		}
	}
	return checks
}

// checked handles ev, the result of a check. It reports false if no such check was requested.
func (p *pieces) checked(ev PieceChecked) (piece byterange.Range, ok bool) {
	if p.length == 0 || p.open == 0 || ev.Piece < 0 || ev.Piece > p.index(p.size-1) {
		return byterange.Range{}, false
	}
	p.open--
	piece = p.at(ev.Piece)
	if !ev.OK {
		p.asked.Remove(piece)
	}
	return piece, true
}

// find returns the index of the disputed piece that begins at off, or the index where it would be inserted.
func (p *pieces) find(off int64) (i int, ok bool) {
	return slices.BinarySearchFunc(p.disputed, off, func(d disputed, off int64) int { return cmp.Compare(d.piece.Start, off) })
}

// dispute adds a wrong piece from several mirrors, unless it is disputed already.
func (p *pieces) dispute(piece byterange.Range, by []*mirror) {
	var all byterange.Set
	for _, m := range by {
		for r := range m.unproven.Covered(piece) {
			all.Add(r)
		}
	}
	if !all.Contains(piece) { // the origin of some bytes is unknown, for example of bytes from an earlier run
		by = nil
	}
	if i, again := p.find(piece.Start); !again {
		p.disputed = slices.Insert(p.disputed, i, disputed{piece: piece, by: by})
	}
}

// resolve removes a piece that is right now, and returns the mirrors that had delivered the wrong piece.
func (p *pieces) resolve(piece byterange.Range) (by []*mirror) {
	i, was := p.find(piece.Start)
	if was {
		by = p.disputed[i].by
		p.disputed = slices.Delete(p.disputed, i, i+1)
	}
	return by
}

// disputedAt returns the disputed piece that contains the byte at off, or nil.
func (p *pieces) disputedAt(off int64) *disputed {
	if len(p.disputed) > 0 {
		if i, ok := p.find(p.at(p.index(off)).Start); ok {
			return &p.disputed[i]
		}
	}
	return nil
}

// take records that the disputed piece at off, if there is one, was taken once more from a mirror with a slow tail.
func (p *pieces) take(off int64) {
	if d := p.disputedAt(off); d != nil {
		d.taken++
	}
}

// outside yields the parts of r, in order, that belong to no disputed piece. Several mirrors may fetch such a part.
func (p *pieces) outside(r byterange.Range) iter.Seq[byterange.Range] {
	return func(yield func(byterange.Range) bool) {
		for _, d := range p.disputed {
			if d.piece.End <= r.Start || d.piece.Start >= r.End {
				continue
			}
			if d.piece.Start > r.Start && !yield(byterange.Range{Start: r.Start, End: d.piece.Start}) {
				return
			}
			r.Start = min(d.piece.End, r.End)
		}
		if !r.Empty() {
			yield(r)
		}
	}
}
