package report

import "time"

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

// sum is the amount from one column to another, that one not included.
func (s series) sum(from, to int) (sum float64) {
	for c := from; c < min(to, len(s)); c++ {
		sum += s[c]
	}
	return sum
}

// shares yields the columns that a time touches, each with its share of it.
func shares(width, from, to time.Duration) func(yield func(int, float64) bool) {
	return func(yield func(int, float64) bool) {
		from = max(from, 0)
		if to <= from {
			yield(int(max(to, 0)/width), 1)
			return
		}
		for c := int(from / width); time.Duration(c)*width < to; c++ {
			begin, end := max(from, time.Duration(c)*width), min(to, time.Duration(c+1)*width)
			if !yield(c, float64(end-begin)/float64(to-from)) {
				return
			}
		}
	}
}
