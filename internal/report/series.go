package report

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

// The time is divided into columns of one width. When it gets longer than maxColumns of them, the width doubles and each
// two become one: a download of a second and one of ten hours take the same room.
const (
	maxColumns  = 360
	firstColumn = time.Millisecond
)

// A series is an amount by column.
type series []float64

// spread adds an amount that came evenly from one time to another.
func (s *series) spread(width, from, to time.Duration, amount float64) {
	for c, share := range shares(width, from, to) {
		for len(*s) <= c {
			*s = append(*s, 0)
		}
		(*s)[c] += amount * share
	}
}

// halve makes one column of each two.
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

// sum is the amount in the columns from one to another, that one not included.
func (s series) sum(from, to int) (sum float64) {
	for c := from; c < min(to, len(s)); c++ {
		sum += s[c]
	}
	return sum
}

// shares yields the columns that a time touches, each with its share of it.
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

// A gap is a time in which a source brought nothing.
type gap struct {
	mirror   *Mirror
	from, to time.Duration
}

func (g gap) length() time.Duration { return g.to - g.from }

func byLength(a, b gap) int { return cmp.Compare(a.length(), b.length()) }

// gaps are the longest ones that there were, no more than maxGaps.
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

// An entry is something that happened.
type entry struct {
	At   time.Duration
	Text string
	Bad  bool
}

// A log is the first and the last things that happened, and how many there were between them.
type log struct {
	Entries []entry
	Dropped int
}

const maxEntries = 120 // of the first and of the last

// Kept is how many of the first ones there are.
func (l log) Kept() int { return maxEntries }

func (l *log) add(e entry) {
	l.Entries = append(l.Entries, e)
	if len(l.Entries) > 2*maxEntries {
		l.Entries = slices.Delete(l.Entries, maxEntries, maxEntries+1)
		l.Dropped++
	}
}
