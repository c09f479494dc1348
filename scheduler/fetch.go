package scheduler

import "time"

// fetch is a running request. The bytes from pos to end are reserved for it until it is ending.
type fetch struct {
	id        FetchID
	src       *mirror
	size      int64     // size of the requested range; 0 for a fetch to the end of the file
	pos, end  int64     // bytes still to be delivered
	toEnd     bool      // the server sends up to the end of the file; end is the end of the reservation
	whole     bool      // requested without a Range field, or answered with the whole file
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

// heard records activity.
func (f *fetch) heard(now time.Time) { f.activeAt = now }

// advance records that no byte before pos is expected any more. A fetch may deliver more than was reserved for it.
func (f *fetch) advance(pos int64) {
	if pos > f.pos {
		f.pos, f.end = pos, max(f.end, pos)
	}
}

// partial records n further bytes of incomplete pieces. A negative n means that -n of these bytes were wrong, or now
// belong to a complete piece.
func (f *fetch) partial(n int64) { f.came = max(f.came+n, 0) }

// becomeExclusive makes f the only fetch that may deliver its disputed piece. Bytes before reached are no progress.
func (f *fetch) becomeExclusive(reached int64) { f.exclusive, f.reached = true, reached }

// becomeWhole makes a fetch deliver everything up to the end of the file, because its server ignored the range.
func (f *fetch) becomeWhole() { f.toEnd, f.whole = true, true }
