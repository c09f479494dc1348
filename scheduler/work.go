package scheduler

import (
	"slices"
	"time"

	"braid/byterange"
)

// work is the state that the parts of a Scheduler share: the mirrors, the bytes and the requests. The parts change it
// only by its methods.
type work struct {
	cfg      Config
	epoch    time.Time // time of the first step
	now      time.Time // time of this step
	answered bool      // at least one mirror has answered
	mirrors  mirrors
	ranges   ranges
	pieces   pieces
	fetches  map[FetchID]*fetch
	running  []*fetch // the values of fetches, oldest first: maps are unordered, and Step must be deterministic
	lastID   FetchID
	turns    []turn // buffer of horizon
	do       []Action
}

// start asks a mirror for a range.
func (w *work) start(m *mirror, r byterange.Range, whole bool, why Reason) {
	w.lastID++
	f := &fetch{
		id: w.lastID, src: m, size: r.Len(), pos: r.Start, end: r.End, toEnd: whole, whole: whole,
		since: w.now, activeAt: w.now, guessed: m.speed == 0, cold: !m.alive,
	}
	w.fetches[f.id] = f
	w.running = append(w.running, f)
	m.becomeOpen(f)
	w.ranges.reserve(r)
	if whole {
		r = byterange.Range{Start: 0, End: byterange.Unbounded}
	}
	w.do = append(w.do, Fetch{f.id, m.id, r, why})
}

// shrink makes a fetch end early, at end.
func (w *work) shrink(f *fetch, end int64, why Reason) {
	if end <= f.pos {
		w.cancel(f, why)
		return
	}
	w.ranges.free(byterange.Range{Start: end, End: f.end})
	f.end, f.toEnd, f.cut = end, false, true
	w.countBehind(f)
	w.do = append(w.do, Shrink{f.id, end, why})
}

// cancel ends a fetch. Its undelivered bytes are missing from now on.
func (w *work) cancel(f *fetch, why Reason) {
	if f.ending {
		return
	}
	w.release(f)
	f.ending = true
	w.do = append(w.do, Cancel{f.id, why})
}

// release frees the reservation of a fetch.
func (w *work) release(f *fetch) {
	if !f.ending {
		w.ranges.free(byterange.Range{Start: f.pos, End: f.end})
		f.end = f.pos
	}
}

// close takes the place from a mirror and cancels its fetch.
func (w *work) close(m *mirror, why Reason) {
	m.becomeClosed()
	if m.running != nil {
		w.cancel(m.running, why)
	}
}

// remove deletes a fetch that has ended.
func (w *work) remove(f *fetch) {
	delete(w.fetches, f.id)
	w.running = slices.DeleteFunc(w.running, func(o *fetch) bool { return o == f })
	w.release(f)
}

// gain records bytes as present, and requests the checks of pieces that are complete now. from is nil if the fetch is
// unknown.
func (w *work) gain(r byterange.Range, from *mirror) (fresh int64) {
	if from == nil {
		fresh = w.ranges.gain(r, nil)
	} else {
		fresh = w.ranges.gain(r, &from.unproven)
	}
	w.check(r)
	return fresh
}

// countBehind counts the present bytes between the position and the end of a fetch that delivers whole pieces.
func (w *work) countBehind(f *fetch) {
	f.behind = 0
	if f.src.align.whole() {
		f.behind = w.ranges.among(byterange.Range{Start: f.pos, End: f.end})
	}
}

// discard makes present bytes that turned out wrong missing again.
func (w *work) discard(r byterange.Range) {
	for had := range w.ranges.here.Covered(r) {
		w.do = append(w.do, Discard{had})
	}
	w.ranges.lose(r)
	for _, f := range w.running { // bytes may belong to the range of a running fetch that had not delivered them
		if !f.ending {
			w.ranges.reserve(r.Intersect(byterange.Range{Start: f.pos, End: f.end}))
			w.countBehind(f)
		}
	}
}

// requests returns the number of running requests to a host. It includes requests that are being ended, because their
// connections may still be open (RFC 6249, section 7).
func (w *work) requests(host string) int {
	return count(w.running, func(f *fetch) bool { return f.src.host == host })
}

// usable reports whether a mirror may be asked now.
func (w *work) usable(m *mirror) bool { return !m.gone() && !w.now.Before(m.until) }

// free reports whether a mirror is usable and its host may get another request.
func (w *work) free(m *mirror) bool { return w.usable(m) && w.requests(m.host) < w.cfg.PerHost }

// allowed reports whether a mirror may have a place. A mirror without ranges may have one only if no other is left.
func (w *work) allowed(m *mirror) bool {
	return !m.noRanges || w.ranges.size < 0 || !w.mirrors.ranged(m)
}

// leaving returns the number of mirrors that lost their place and whose connection is not closed yet.
func (w *work) leaving() int {
	return count(w.running, func(f *fetch) bool { return f.ending && !f.src.open() })
}

// fetch is a running request. The bytes from pos to end are reserved for it until it is ending.
type fetch struct {
	id        FetchID
	src       *mirror
	size      int64     // size of the requested range; 0 for a fetch to the end of the file
	pos, end  int64     // bytes still to be delivered
	toEnd     bool      // the server sends up to the end of the file; end is the end of the reservation
	whole     bool      // requested without a Range field, or answered like that
	since     time.Time // time of the request
	activeAt  time.Time // last activity
	got       int64
	guessed   bool  // the speed was unknown at the time of the request
	cold      bool  // began on a new connection
	ending    bool  // cancelled; FetchEnded is expected
	cut       bool  // its end was lowered: the connection cannot be reused
	exclusive bool  // no other fetch may take a part of it
	reached   int64 // of an exclusive fetch: bytes before this offset are no progress
	came      int64 // bytes of incomplete pieces
	behind    int64 // bytes between pos and end that were delivered: pieces arrive in any order
}

// left returns the number of bytes still to be delivered.
func (f *fetch) left() int64 { return max(f.end-f.pos-f.behind-f.came, 0) }

// inFlight estimates the number of bytes in flight, which are lost if the connection is closed.
func (f *fetch) inFlight() float64 { return f.src.speed * f.src.rtt.Seconds() }
