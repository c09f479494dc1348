// Package source defines the interface of a place to download from. A [Source] delivers bytes and describes its
// response by an [Answer] before the first byte. An [Error] states whose fault a failure was.
//
// The packages below it implement the protocols. The caller decides which range is fetched from which source, and
// whether a response is acceptable.
//
//	err := src.Fetch(ctx, byterange.Range{Start: 0, End: 1 << 20}, sink)
//	if e, ok := errors.AsType[*source.Error](err); ok && e.Retry {
//		// the same source again, not before e.After
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

// Traits are the properties of a source that are known before the first request.
type Traits struct {
	// Align is the unit of delivery in bytes: 1, or the length of a piece that is delivered whole.
	Align int64
	// Validators reports that a response may have an ETag, a date or digests, which distinguish versions.
	Validators bool
	// Trips is the number of round trips that each request needs before the round trip that returns its first byte, for
	// example for commands and a new connection. It is 0 if one round trip is enough.
	Trips int
	// InOrder reports that the bytes of a range arrive in order.
	InOrder bool
	// Lead is the offset at which one of the units begins. It may be negative.
	Lead int64
	// Slow reports that the source needs time to find the bytes, and that the bytes arrive irregularly.
	Slow bool
}

// A Source is a server or swarm with a file, or with another version of the file. It is safe for concurrent use. The
// caller limits the number of concurrent requests.
type Source interface {
	Traits() Traits

	// Fetch writes the bytes of r to w, each at most once, until r is done, w returns ErrEnough, ctx is done or the
	// source fails. A range from 0 to byterange.Unbounded requests the whole file.
	//
	// The error is nil if r is done or w returned ErrEnough, ctx.Err() if ctx ended the fetch, an unchanged error of w,
	// or an *Error. The bytes written before an error are what the source sent for their offsets, except after a
	// *ContentError: the source has then announced the digest of other bytes. All calls of w come from the goroutine
	// that called Fetch, before Fetch returns.
	//
	// If the size of the file is unknown, r may reach beyond its end. r is then done at the end of the file.
	Fetch(ctx context.Context, r byterange.Range, w Sink) error
}

// A Sink receives the bytes of a Fetch.
type Sink interface {
	// Answer is called once, before any byte. An error refuses the body.
	Answer(Answer) error

	// WriteAt writes the bytes at off. It must not keep p. It returns ErrEnough if no bytes at or after off+n are
	// needed; n is then the number of needed bytes in p. Any other error is a failure of this machine.
	WriteAt(p []byte, off int64) (n int, err error)
}

// A PieceSink is a Sink for sources that deliver complete units, in any order.
type PieceSink interface {
	Sink

	// Coming reports that n bytes of an incomplete unit were received. WriteAt gets the unit when it is complete and
	// verified. A negative n reports that -n of these bytes were wrong.
	Coming(n int64) error

	// End returns the current end of the range, which may have become lower than requested. Later bytes are not needed.
	End() int64
}

// ErrEnough is returned by a Sink that needs no more bytes. Fetch then ends without an error.
var ErrEnough = errors.New("enough")

// Give writes p to w. It reports whether w needs no more bytes. If w accepts fewer bytes without an error, the error is
// io.ErrShortWrite.
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

// An Answer describes the response of a source before the first byte.
type Answer struct {
	Host string        // host:port that answered, after redirects; the limit of requests applies to it
	URL  *url.URL      // after redirects; without user info
	RTT  time.Duration // round-trip time to Host, measured for this answer; 0 if unknown

	Start int64 // offset of the first byte that will come
	End   int64 // offset after the last announced byte; -1 if unknown
	Size  int64 // of the whole representation; -1 if unknown

	// Ranged reports that the response is the requested range. If false, the response is the whole file from 0.
	Ranged bool

	ETag         string    // as sent; "" if absent
	LastModified time.Time // zero if absent or garbled
	// Fleeting reports that a later version of the file may have the same ETag and LastModified: the ETag is not strong,
	// and LastModified is not at least a second older than the response (RFC 9110, section 8.8.2.2).
	Fleeting bool

	// Claims are the digests of the whole file in this response, even if the response is a part. Hops has the digests
	// in earlier responses.
	Claims []verify.Claim

	// Content are the digests of the response's content. A Fetch of the complete content has compared them, and returns
	// a *ContentError if they differ. Content that was cut short is not compared.
	Content []verify.Claim

	// Hops are all responses of the redirect chain. The last hop is this response.
	Hops []metalink.Hop

	// IfMatchFailed reports that the server does not have a version with the requested ETag. This response answers a
	// second request without that ETag.
	IfMatchFailed bool

	// NotModified reports that the caller's version is current. No bytes follow.
	NotModified bool
}
