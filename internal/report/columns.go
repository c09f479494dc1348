package report

import (
	"slices"
	"time"

	"braid/byterange"
)

// columns has the amounts for the charts. Time is divided into columns that are equally wide.
type columns struct {
	width   time.Duration
	bytes   series   // from all sources
	flows   []series // bytes of each source; the index is Mirror.number
	work    series   // in each column, the seconds of all fetches
	picture raster
}

// reach makes columns twice as wide until maxColumns columns include the time now.
func (c *columns) reach(now time.Duration) {
	for now >= c.width*maxColumns {
		c.width *= 2
		c.bytes.halve()
		c.work.halve()
		c.picture.halve()
		for i := range c.flows {
			c.flows[i].halve()
		}
	}
}

// came records that the source with that number sent the range r, at a constant rate between from and to.
func (c *columns) came(from, to time.Duration, r byterange.Range, number int) {
	for len(c.flows) <= number {
		c.flows = append(c.flows, nil)
	}
	c.flows[number].spread(c.width, from, to, float64(r.Len()))
	c.bytes.spread(c.width, from, to, float64(r.Len()))
	c.picture.paint(c.width, from, to, r, number)
}

// worked records that a fetch was running between from and to.
func (c *columns) worked(from, to time.Duration) {
	c.work.spread(c.width, from, to, (to - from).Seconds())
}

// flow returns the bytes that m sent in each column.
func (c *columns) flow(m *Mirror) series {
	if m.number < len(c.flows) {
		return c.flows[m.number]
	}
	return nil
}

// stretch is a period in which the download was much slower than usual.
type stretch struct {
	from, to       int     // columns; to is not part of the stretch
	slow, fast     float64 // speed in the stretch and outside it
	atBegin, atEnd bool
	cause          *Mirror // nil if no source explains why the download was slow
	its, itsElse   float64 // speed of cause in the stretch and outside it
}

// pace compares the speeds in different columns. It begins with the first answer and ends with the last byte.
type pace struct {
	*columns
	compared   *comparison
	begin, end int
}

// stretches returns the periods with less than half of the usual speed, each with the source that caused it. Columns
// with comparisons of received bytes do not count.
func (p pace) stretches(sources []*Mirror) (out []stretch) {
	smooth := p.smooth()
	if len(smooth) < 8 {
		return nil
	}
	counts := make([]bool, len(smooth))
	var sorted []float64
	for i, x := range smooth {
		at, around := time.Duration(p.begin+i)*p.width, smoothing+p.width
		if counts[i] = p.compared.within(at-around, at+p.width+around) == 0; counts[i] {
			sorted = append(sorted, x)
		}
	}
	if len(sorted) == 0 {
		return nil
	}
	slices.Sort(sorted)
	usual := sorted[len(sorted)*3/4] // the upper quartile
	for i := 0; i < len(smooth); {
		j := i
		for j < len(smooth) && smooth[j] < usual/2 && counts[j] {
			j++
		}
		if j > i {
			s := stretch{from: p.begin + i, to: p.begin + j, atBegin: i == 0, atEnd: j == len(smooth)}
			p.blame(&s, sources)
			out = append(out, s)
		}
		i = j + 1
	}
	return out
}

// smoothing is how far to each side of a column smooth averages.
const smoothing = 250 * time.Millisecond

// smooth returns, for each column, the mean number of bytes per column in about half a second around it.
func (p pace) smooth() (out []float64) {
	around := int(smoothing/p.width) + 1
	for c := p.begin; c < p.end; c++ {
		from, to := max(p.begin, c-around), min(p.end, c+around+1)
		out = append(out, p.bytes.sum(from, to)/float64(to-from))
	}
	return out
}

// blame sets the cause of s: a source that explains more than half of the lower speed.
func (p pace) blame(s *stretch, sources []*Mirror) {
	in := float64(s.to-s.from) * p.width.Seconds()
	compared := p.compared.within(time.Duration(p.begin)*p.width, time.Duration(p.end)*p.width)
	out := float64(p.end-p.begin)*p.width.Seconds() - in - compared.Seconds()
	speeds := func(x series) (slow, fast float64) {
		had := x.sum(s.from, s.to)
		return had / in, (x.sum(p.begin, p.end) - had) / max(out, p.width.Seconds())
	}
	s.slow, s.fast = speeds(p.bytes)
	for _, m := range sources {
		if its, other := speeds(p.flow(m)); other-its > (s.fast-s.slow)/2 {
			s.cause, s.its, s.itsElse = m, its, other
		}
	}
}
