package report

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"braid/byterange"
)

// Time is divided into columns that are equally wide. If more than maxColumns columns would be needed, each two
// neighbors are merged into one. Therefore a download of ten hours needs no more memory than one of a second.
const (
	maxColumns  = 360
	firstColumn = time.Millisecond
)

// series is an amount for each column.
type series []float64

// spread adds amount to s, evenly distributed between from and to. width is the duration of a column.
func (s *series) spread(width, from, to time.Duration, amount float64) {
	for c, share := range shares(width, from, to) {
		for len(*s) <= c {
			*s = append(*s, 0)
		}
		(*s)[c] += amount * share
	}
}

// halve merges each two columns of s into one.
func (s *series) halve() {
	for i, x := range *s {
		if i%2 == 0 {
			(*s)[i/2] = x
		} else {
			(*s)[i/2] += x
		}
	}
	*s = (*s)[:(len(*s)+1)/2]
}

// sum returns the total of the columns in [from, to).
func (s series) sum(from, to int) (sum float64) {
	for c := from; c < min(to, len(s)); c++ {
		sum += s[c]
	}
	return sum
}

// shares yields the columns between the times from and to, and for each the fraction of that time that is in it.
func shares(width, from, to time.Duration) iter.Seq2[int, float64] {
	return func(yield func(int, float64) bool) {
		from = max(from, 0)
		if to <= from {
			yield(int(max(to, 0)/width), 1)
			return
		}
		for c := from / width; c*width < to; c++ {
			if !yield(int(c), float64(min(to, (c+1)*width)-max(from, c*width))/float64(to-from)) {
				return
			}
		}
	}
}

// gap is a period without data from a source.
type gap struct {
	mirror   *Mirror
	from, to time.Duration
}

func (g gap) length() time.Duration { return g.to - g.from }

func byLength(a, b gap) int { return cmp.Compare(a.length(), b.length()) }

// gaps has at most maxGaps gaps, the longest ones.
type gaps []gap

const maxGaps = 200

func (g *gaps) add(x gap) {
	if x.length() <= 0 {
		return
	}
	*g = append(*g, x)
	if len(*g) > maxGaps {
		short := slices.Index(*g, slices.MinFunc(*g, byLength))
		*g = slices.Delete(*g, short, short+1)
	}
}

// entry is a line of the log.
type entry struct {
	At   time.Duration
	Text string
	Bad  bool
}

// log keeps the first and the last lines of a log, and counts the lines in between that it dropped.
type log struct {
	Entries []entry
	Dropped int
}

const maxEntries = 120 // at each end of the log

func (l *log) add(e entry) {
	l.Entries = append(l.Entries, e)
	if len(l.Entries) > 2*maxEntries {
		l.Entries = slices.Delete(l.Entries, maxEntries, maxEntries+1)
		l.Dropped++
	}
}

// raster is the file chart. Time increases to the right, and the offset in the file upwards. A cell belongs to the
// source that sent most of its bytes. The chart has at most maxColumns columns and maxRows rows. If a longer time or a
// larger file needs more, neighbors are merged.
type raster struct {
	row     int64    // bytes per row; 0 until paint or fit is called
	columns [][]cell // nil for a column without bytes
}

const (
	maxRows  = 160
	firstRow = 1 << 10 // bytes per row for a file of unknown size
)

// cell finds its owner by a majority vote. votes is the number of bytes of the owner, minus those of all others.
type cell struct {
	owner int16 // number of the source plus 1; 0 means none
	votes float32
}

func (c *cell) vote(owner int16, votes float32) {
	switch {
	case c.owner == owner:
		c.votes += votes
	case c.votes >= votes:
		c.votes -= votes
	default:
		c.owner, c.votes = owner, votes-c.votes
	}
}

// fit makes the rows high enough for a file of that size.
func (p *raster) fit(size int64) {
	if p.row == 0 {
		p.row = firstRow
		if size > 0 {
			p.row = (size-1)/maxRows + 1
		}
	}
	for (size-1)/p.row >= maxRows {
		p.double()
	}
}

// double merges each two rows of p into one.
func (p *raster) double() {
	p.row *= 2
	for _, col := range p.columns {
		for i, c := range col {
			if i%2 == 1 {
				col[i/2].vote(c.owner, c.votes)
			} else {
				col[i/2] = c
			}
			if i > 0 {
				col[i] = cell{}
			}
		}
	}
}

// paint records that the source with the number owner sent the range r, at a constant rate between from and to. width
// is the duration of a column.
func (p *raster) paint(width, from, to time.Duration, r byterange.Range, owner int) {
	p.fit(r.End)
	pos := float64(r.Start)
	for c, share := range shares(width, from, to) {
		end := pos + share*float64(r.Len())
		p.strip(c, pos, end, int16(owner+1))
		pos = end
	}
}

// strip records that the bytes between from and to were received in column c. owner is as in cell.
func (p *raster) strip(c int, from, to float64, owner int16) {
	for len(p.columns) <= c {
		p.columns = append(p.columns, nil)
	}
	if p.columns[c] == nil {
		p.columns[c] = make([]cell, maxRows)
	}
	row := float64(p.row)
	for i := int(from / row); i < maxRows && float64(i)*row < to; i++ {
		part := min(to, float64(i+1)*row) - max(from, float64(i)*row)
		p.columns[c][i].vote(owner, float32(part))
	}
}

// halve merges each two columns of p into one.
func (p *raster) halve() {
	for i, col := range p.columns {
		switch into := p.columns[i/2]; {
		case i%2 == 0 || into == nil:
			p.columns[i/2] = col
		default:
			for r, c := range col {
				into[r].vote(c.owner, c.votes)
			}
		}
	}
	n := (len(p.columns) + 1) / 2
	clear(p.columns[n:])
	p.columns = p.columns[:n]
}

// block is a rectangle of cells with the same owner.
type block struct {
	owner                   int
	column, row, wide, high int
}

// blocks returns the rectangles of the file chart. Adjacent cells with the same owner in a column form a block. The
// block continues in the next column if the same cells form a block there.
func (p *raster) blocks() (out []block) {
	open := map[[3]int]int{} // index in out by owner, row and height
	for c, col := range p.columns {
		next := map[[3]int]int{}
		for i, j := 0, 0; i < len(col); i = j {
			for j = i + 1; j < len(col) && col[j].owner == col[i].owner; j++ {
			}
			owner := int(col[i].owner) - 1
			key := [3]int{owner, i, j - i}
			at, goesOn := open[key]
			switch {
			case owner < 0:
				continue
			case goesOn:
				out[at].wide++
			default:
				at = len(out)
				out = append(out, block{owner: owner, column: c, row: i, wide: 1, high: j - i})
			}
			next[key] = at
		}
		open = next
	}
	return out
}

// coarser returns a copy of p with half as many rows.
func (p *raster) coarser() *raster {
	q := &raster{row: p.row}
	for _, col := range p.columns {
		q.columns = append(q.columns, slices.Clone(col))
	}
	q.double()
	return q
}
