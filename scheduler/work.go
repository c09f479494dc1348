package scheduler

import (
	"slices"
	"time"

	"braid/byterange"
)

// work is what the parts of a Scheduler share: the mirrors, the bytes and the requests. They read it, and act by its methods.
type work struct {
	cfg      Config
	epoch    time.Time // of the first step
	now      time.Time // of this step
	answered bool      // some mirror has answered
	mirrors  mirrors
	ranges   ranges
	pieces   pieces
	fetches  map[FetchID]*fetch
	running  []*fetch // the same, oldest first: maps have no order, and Step must be deterministic
	lastID   FetchID
	turns    []turn // of the last horizon
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

// shrink ends a fetch early, at end.
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

// cancel ends a fetch: what it had not brought is missing from now on.
func (w *work) cancel(f *fetch, why Reason) {
	if f.ending {
		return
	}
	w.release(f)
	f.ending = true
	w.do = append(w.do, Cancel{f.id, why})
}

// release gives back what a fetch had not brought.
func (w *work) release(f *fetch) {
	if !f.ending {
		w.ranges.free(byterange.Range{Start: f.pos, End: f.end})
		f.end = f.pos
	}
}

// close gives the place of a mirror to another, and ends what it is asked for.
func (w *work) close(m *mirror, why Reason) {
	m.becomeClosed()
	if m.running != nil {
		w.cancel(m.running, why)
	}
}

// remove forgets a fetch that has ended.
func (w *work) remove(f *fetch) {
	delete(w.fetches, f.id)
	w.running = slices.DeleteFunc(w.running, func(o *fetch) bool { return o == f })
	w.release(f)
}

// gain notes that bytes are here, and asks for the checks of the pieces that they complete. from is nil if they came late.
func (w *work) gain(r byterange.Range, from *mirror) (fresh int64) {
	if from == nil {
		fresh = w.ranges.gain(r, nil)
	} else {
		fresh = w.ranges.gain(r, &from.unproven)
	}
	w.check(r)
	return fresh
}

// countBehind counts what is here between the first byte that a fetch has to bring and its end.
func (w *work) countBehind(f *fetch) {
	f.behind = 0
	if f.src.align.whole() {
		f.behind = w.ranges.among(byterange.Range{Start: f.pos, End: f.end})
	}
}

// discard makes bytes missing again that are here and turned out wrong.
func (w *work) discard(r byterange.Range) {
	for had := range w.ranges.here.Covered(r) {
		w.do = append(w.do, Discard{had})
	}
	w.ranges.lose(r)
	for _, f := range w.running { // another may have brought it before the one that still has to
		if !f.ending {
			w.ranges.reserve(r.Intersect(byterange.Range{Start: f.pos, End: f.end}))
			w.countBehind(f)
		}
	}
}

// requests counts the running requests at a host, those included that are being ended: their connection may not be closed
// yet (RFC 6249, section 7).
func (w *work) requests(host string) int {
	return count(w.running, func(f *fetch) bool { return f.src.host == host })
}

// usable reports whether a mirror may be asked now.
func (w *work) usable(m *mirror) bool { return !m.gone() && !w.now.Before(m.until) }

// free reports whether its host may get another request, too.
func (w *work) free(m *mirror) bool { return w.usable(m) && w.requests(m.host) < w.cfg.PerHost }

// allowed reports whether a mirror may have a place: one without ranges only when no other is left.
func (w *work) allowed(m *mirror) bool {
	return !m.noRanges || w.ranges.size < 0 || !w.mirrors.ranged(m)
}

// leaving counts the mirrors that lost their place and whose connection is not closed yet.
func (w *work) leaving() int {
	return count(w.running, func(f *fetch) bool { return f.ending && !f.src.open() })
}

// A fetch is a running request. It has a reservation, from pos to end, until it is ending.
type fetch struct {
	id        FetchID
	src       *mirror
	size      int64     // of what was asked for; one to the end of the file has none
	pos, end  int64     // what it still has to bring
	toEnd     bool      // the server sends to the end of the file; end is the end of the reservation
	whole     bool      // asked without a Range field, or answered as if
	since     time.Time // when it was asked
	activeAt  time.Time // when something last came
	got       int64
	guessed   bool  // nothing was known of the speed when it was asked for
	cold      bool  // it began with a new connection
	ending    bool  // cancelled; FetchEnded is awaited
	cut       bool  // its end was lowered: the connection cannot be used again
	exclusive bool  // no other may take a part of it
	reached   int64 // of such a one: what others had brought before, up to which it is no progress
	came      int64 // of pieces that are not complete
	behind    int64 // from pos to end, what it has brought: pieces come in any order
}

// left is how many bytes have to come.
func (f *fetch) left() int64 { return max(f.end-f.pos-f.behind-f.came, 0) }

// inFlight is about how much is on its way, which is lost when the connection is closed.
func (f *fetch) inFlight() float64 { return f.src.speed * f.src.rtt.Seconds() }
