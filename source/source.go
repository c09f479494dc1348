// Package source says what a place that bytes come from must be able to do, and in which words it answers:
// with an [Answer] before the first byte, and with an [Error] that says whose fault it was.
//
// It refuses to know protocols, which are the packages below it, and it decides nothing: which range is
// fetched where, and whether an answer is welcome, is for the caller to say.
//
//	err := src.Fetch(ctx, byterange.Range{Start: 0, End: 1 << 20}, sink)
//	if e, ok := errors.AsType[*source.Error](err); ok && e.Retry {
//		// the same source once more, not before e.After
//	}
package source

import (
	"context"
	"errors"
	"io"
	"net/url"
	"time"

	"braid/byterange"
	"braid/metalink"
	"braid/verify"
)

// Traits is what can be said of a source before it was asked for anything.
type Traits struct {
	// Align is the unit in which the source gives bytes: 1, or the length of a piece that comes whole.
	Align int64
	// Validators says that an answer can carry an ETag, a date or digests that tell versions apart.
	Validators bool
	// Trips is how many round trips a request takes before the one that brings its first byte, over a connection of its
	// own. It is 0 where one question is enough.
	Trips int
	// InOrder says that the bytes of a range come in order.
	InOrder bool
	// Lead is the offset of the beginning of a unit, if they do not begin at 0: it may be negative.
	Lead int64
	// Slow says that it takes its time to find out where the bytes are, and that they come in fits and starts.
	Slow bool
}

// A Source is one place where a file, or another version of it, can be had. Its methods may be called by
// several goroutines at once; how many requests that place may see is the caller's to limit.
type Source interface {
	Traits() Traits

	// Fetch sends the bytes of r to w, each at most once, until r is done, w says ErrEnough, ctx ends or the
	// source fails. A range from 0 to byterange.Unbounded is the whole file and is asked for as such.
	//
	// The error is nil when r is done or w said ErrEnough, ctx.Err() when that ended it, w's own error unchanged, else
	// an *Error. Bytes that w took before an error are good: they are what the source sent for their offsets. Only a
	// *ContentError says that they are not what it meant to send. All calls of w come from the goroutine that called
	// Fetch, and none comes after Fetch returned.
	//
	// When the end of the file is not known beforehand, r may reach beyond it; r is then done at the end of
	// the file.
	Fetch(ctx context.Context, r byterange.Range, w Sink) error
}

// A Sink takes what a Fetch brings.
type Sink interface {
	// Answer is called once, before any byte. An error refuses the body.
	Answer(Answer) error

	// WriteAt takes the bytes at off. It must not keep p. It returns ErrEnough when nothing at or after off+n
	// is wanted; n says how many bytes of p were. Any other error is of the local side.
	WriteAt(p []byte, off int64) (n int, err error)
}

// A PieceSink is a Sink for sources that give their bytes in units, which come in any order and when they are complete.
type PieceSink interface {
	Sink

	// Coming says that n more bytes came, which WriteAt will bring when their unit is complete and right; if n is
	// negative, that so many of them were wrong.
	Coming(n int64) error

	// End is where the range ends now, if it is lower than what was asked for. What is behind it is not wanted.
	End() int64
}

// ErrEnough is what a Sink says when it wants no more. It ends a Fetch without an error.
var ErrEnough = errors.New("enough")

// Give hands p to w. Enough says that w wants nothing more; a sink that takes less without a reason is io.ErrShortWrite.
func Give(w Sink, p []byte, off int64) (enough bool, err error) {
	switch n, err := w.WriteAt(p, off); {
	case errors.Is(err, ErrEnough):
		return true, nil
	case err != nil:
		return false, err
	case n < len(p):
		return false, io.ErrShortWrite
	}
	return false, nil
}

// An Answer is what a source says before the first byte.
type Answer struct {
	Host string        // host:port that answered, after redirects: the one to count requests by
	URL  *url.URL      // after redirects; without user info
	RTT  time.Duration // round-trip time to Host, measured for this answer; 0 if unknown

	Start int64 // offset of the first byte that will come
	End   int64 // one past the last byte announced; -1 if unknown
	Size  int64 // of the whole representation; -1 if unknown

	// Ranged says that the answer is the part that was asked for. If false, it is the whole file from 0.
	Ranged bool

	ETag         string    // as sent; "" if absent
	LastModified time.Time // zero if absent or garbled

	// Claims are the digests of this answer alone; those of the answers before it are in Hops. They are of
	// the whole file also when the answer is a part.
	Claims []verify.Claim

	// Content is what the answer says of the bytes that it brings. A Fetch that brought them all has checked it: the error is a
	// *ContentError if they are not those. Nothing is known of what was ended before.
	Content []verify.Claim

	// Hops are all answers of the redirect chain, this one last.
	Hops []metalink.Hop

	// IfMatchFailed says that the server has no version with the ETag asked for, and that this answer came
	// to a second request that did not ask for it.
	IfMatchFailed bool

	// NotModified says that the caller's version is still the current one. No byte follows.
	NotModified bool
}
