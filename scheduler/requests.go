package scheduler

import (
	"iter"
	"slices"

	"braid/byterange"
)

// requests owns the running requests and their reservations: each byte that a request is still expected to deliver is
// reserved for it in ranges.
type requests struct {
	clock   *clock
	actions *actions
	ranges  *ranges
	perHost int // see Config.PerHost
	byID    map[FetchID]*fetch
	running []*fetch // the values of byID, oldest first: maps are unordered, and Step must be deterministic
	lastID  FetchID
}

// find returns the running request id, or nil.
func (q *requests) find(id FetchID) *fetch { return q.byID[id] }

// len returns the number of running requests, including those that are being ended.
func (q *requests) len() int { return len(q.running) }

// any reports whether ok returns true for a running request, including those that are being ended.
func (q *requests) any(ok func(*fetch) bool) bool { return slices.ContainsFunc(q.running, ok) }

// active yields the running requests that are not being ended, the oldest first.
func (q *requests) active() iter.Seq[*fetch] {
	return func(yield func(*fetch) bool) {
		for _, f := range q.running {
			if !f.ending && !yield(f) {
				return
			}
		}
	}
}

// start asks m for r or, if whole is set, for the whole file.
func (q *requests) start(m *mirror, r byterange.Range, whole bool, why Reason) {
	q.lastID++
	f := &fetch{
		id: q.lastID, src: m, size: r.Len(), pos: r.Start, end: r.End, toEnd: whole, whole: whole,
		since: q.clock.now, activeAt: q.clock.now, guessed: m.speed == 0, cold: !m.alive,
	}
	q.byID[f.id] = f
	q.running = append(q.running, f)
	m.becomeOpen(f)
	q.ranges.reserve(r)
	if whole {
		r = byterange.Range{Start: 0, End: byterange.Unbounded}
	}
	q.actions.add(Fetch{f.id, m.id, r, why})
}

// shrink makes f end early, at the offset end. why is the reason.
func (q *requests) shrink(f *fetch, end int64, why Reason) {
	if end <= f.pos {
		q.cancel(f, why)
		return
	}
	q.ranges.free(byterange.Range{Start: end, End: f.end})
	f.end, f.toEnd, f.cut = end, false, true
	q.countBehind(f)
	q.actions.add(Shrink{f.id, end, why})
}

// cancel ends f. The undelivered bytes of f are missing from now on.
func (q *requests) cancel(f *fetch, why Reason) {
	if f.ending {
		return
	}
	q.release(f)
	f.ending = true
	q.actions.add(Cancel{f.id, why})
}

// release frees the reservation of f.
func (q *requests) release(f *fetch) {
	if !f.ending {
		q.ranges.free(byterange.Range{Start: f.pos, End: f.end})
		f.end = f.pos
	}
}

// close closes m and cancels its fetch.
func (q *requests) close(m *mirror, why Reason) {
	m.becomeClosed()
	if m.running != nil {
		q.cancel(m.running, why)
	}
}

// lower frees the reservation of f, a fetch to the end of the file, from the offset end. The fetch continues.
func (q *requests) lower(f *fetch, end int64) {
	q.ranges.free(byterange.Range{Start: end, End: f.end})
	f.end = end
}

// extend reserves for f, a fetch to the end of the file, the missing bytes after its reservation, up to end.
func (q *requests) extend(f *fetch, end int64) {
	q.ranges.reserve(byterange.Range{Start: f.end, End: end})
	f.end = end
}

// bound ends all requests at the end of a file whose size was unknown when they began.
func (q *requests) bound(size int64) {
	for _, f := range q.running {
		f.end = min(f.end, size)
	}
}

// reserveAgain reserves the missing bytes of r for the requests that have not delivered them yet.
func (q *requests) reserveAgain(r byterange.Range) {
	for f := range q.active() {
		q.ranges.reserve(r.Intersect(byterange.Range{Start: f.pos, End: f.end}))
		q.countBehind(f)
	}
}

// remove deletes f, which has ended.
func (q *requests) remove(f *fetch) {
	delete(q.byID, f.id)
	q.running = slices.DeleteFunc(q.running, func(o *fetch) bool { return o == f })
	q.release(f)
}

// countBehind counts the present bytes between the position and the end of f, if f delivers whole pieces.
func (q *requests) countBehind(f *fetch) {
	f.behind = 0
	if f.src.align.whole() {
		f.behind = q.ranges.among(byterange.Range{Start: f.pos, End: f.end})
	}
}

// at returns the number of running requests to a host. It includes requests that are being ended, because their
// connections may still be open (RFC 6249, section 7).
func (q *requests) at(host string) int {
	return count(q.running, func(f *fetch) bool { return f.src.host == host })
}

// free reports whether m is usable and its host may get another request.
func (q *requests) free(m *mirror) bool { return m.usable(q.clock.now) && q.at(m.host) < q.perHost }

// leaving returns the number of closed mirrors whose canceled fetch has not ended yet.
func (q *requests) leaving() int {
	return count(q.running, func(f *fetch) bool { return f.ending && !f.src.open() })
}
