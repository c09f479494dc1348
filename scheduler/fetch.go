package scheduler

import "time"

// A fetch is a running request. It has a reservation, from pos to end, until it is ending.
type fetch struct {
	id       FetchID
	src      *mirror
	size     int64     // of what was asked for; one to the end of the file has none
	pos, end int64     // what it still has to bring
	toEnd    bool      // the server sends to the end of the file; end only says what is reserved
	whole    bool      // asked without a Range field, or answered as if
	since    time.Time // when it was asked
	heard    time.Time // when something last came
	got      int64
	guessed  bool  // nothing was known of the speed when it was asked for
	ending   bool  // told to stop; only FetchEnded is awaited
	cut      bool  // its end was lowered: the connection is of no use afterwards
	alone    bool  // no other may take a part of it
	reached  int64 // of such a one: what others had brought before, up to which it is no progress
	came     int64 // of pieces that are not complete
	behind   int64 // from pos to end, what it has brought: pieces come in any order
}

// left is how many bytes have to come.
func (f *fetch) left() int64 { return max(f.end-f.pos-f.behind-f.came, 0) }

// inFlight is about how much is on its way, which is lost when the connection is closed.
func (f *fetch) inFlight() float64 { return f.src.speed * f.src.rtt.Seconds() }
