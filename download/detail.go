package download

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"braid/byterange"
)

// bring remembers what a fetch wrote until the next beat. A fetch writes one piece after the other, so that is a range
// for each that runs.
func (s *session) bring(f *flight, wrote byterange.Range) {
	if f.fresh.End != wrote.Start || f.fresh.Empty() {
		s.gather(f)
		f.fresh.Start = wrote.Start
	}
	f.fresh.End = wrote.End
}

// gather takes the range of a fetch to what is told next.
func (s *session) gather(f *flight) {
	if !f.fresh.Empty() {
		s.brought = append(s.brought, Piece{f.number, f.fresh})
		f.fresh = byterange.Range{}
	}
}

// tellBrought says who brought what since the last time.
func (s *session) tellBrought() {
	if !s.req.Detail {
		return
	}
	for _, f := range s.flights {
		s.gather(f)
	}
	if len(s.brought) == 0 {
		return
	}
	slices.SortStableFunc(s.brought, func(a, b Piece) int { return cmp.Compare(a.Fetch, b.Fetch) })
	s.observe(Brought{Pieces: s.brought})
	s.brought = nil
}

// tellEnd says how a fetch ended.
func (s *session) tellEnd(f *flight, err error) {
	s.gather(f)
	s.tellBrought()
	if errors.Is(err, context.Canceled) || errors.Is(err, errRefused) {
		err = nil
	}
	s.observe(RangeEnded{Fetch: f.number, ID: f.from.id, Host: f.from.host, Bytes: f.bytes, Took: time.Since(f.begun), Err: err})
}
