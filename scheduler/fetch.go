package scheduler

import (
	"time"

	"braid/byterange"
)

// A fetch is a running request.
type fetch struct {
	id       FetchID
	src      *mirror
	size     int64     // of what was asked for; an open one has no end
	pos, end int64     // what it still has to bring
	open     bool      // the server sends to the end of the file; end is only a reservation
	whole    bool      // asked without a Range field, or answered as if
	since    time.Time // when it was asked
	heard    time.Time // when something last came
	got      int64
	answered bool
	guessed  bool  // nothing was known of the speed when it was asked for
	ending   bool  // told to stop; only FetchEnded is awaited
	alone    bool  // nobody is to take a part of it
	reached  int64 // of such a one: how far others came before, up to where it is no progress
	came     int64 // of units that are not complete
	behind   int64 // from pos to end, what it has brought: units come in any order
	cut      bool  // its end was lowered: the connection is of no use afterwards (rule 38)
}

// left is how many bytes have to come.
func (f *fetch) left() int64 { return max(f.end-f.pos-f.behind-f.came, 0) }

// release gives back what a fetch had not brought.
func (s *Scheduler) release(f *fetch) {
	if !f.ending {
		s.flying.Remove(byterange.Range{Start: f.pos, End: f.end})
		f.end = f.pos
	}
}

// cancel ends a fetch: what it had not brought is missing from now on.
func (s *Scheduler) cancel(f *fetch, why Reason) {
	if f.ending {
		return
	}
	s.release(f)
	f.ending = true
	s.do = append(s.do, Cancel{f.id, why})
}

// shrink ends a fetch early, at end.
func (s *Scheduler) shrink(f *fetch, end int64, why Reason) {
	if end <= f.pos {
		s.cancel(f, why)
		return
	}
	s.flying.Remove(byterange.Range{Start: end, End: f.end})
	f.end, f.open, f.cut = end, false, true
	s.countBehind(f)
	s.do = append(s.do, Shrink{f.id, end, why})
}

// start asks a source for a range.
func (s *Scheduler) start(now time.Time, m *mirror, r byterange.Range, whole bool, why Reason) {
	s.lastID++
	f := &fetch{id: s.lastID, src: m, size: r.Len(), pos: r.Start, end: r.End, open: whole, whole: whole, since: now, heard: now, guessed: m.speed == 0}
	s.fetches[f.id] = f
	s.order = append(s.order, f)
	m.running, m.open, m.tried = f, true, true
	ask := r
	if whole {
		ask = byterange.Range{Start: 0, End: byterange.Unbounded}
	}
	for g := range s.done.Gaps(r) { // another may have brought a part of it meanwhile
		s.flying.Add(g)
	}
	s.do = append(s.do, Fetch{f.id, m.id, ask, why})
}
