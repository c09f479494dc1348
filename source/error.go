package source

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"braid/metalink"
	"braid/verify"
)

// A Fault is the kind of a failure. The braid command has an exit code for each kind.
type Fault uint8

// The faults, with the exit code of a download that fails because of its source.
const (
	FaultNetwork  Fault = iota + 1 // 4: no address, no connection, a timeout, a truncated body
	FaultTLS                       // 5: the server is not authenticated, or the connection was truncated
	FaultAuth                      // 6: the server requires a name and password
	FaultProtocol                  // 7: the response is invalid, or does not answer the request
	FaultRefused                   // 8: the server refuses the request
	FaultMismatch                  // 11: size, digest or validator of another file
	FaultLimit                     // 14: a response exceeds a limit
)

// String returns the name of the fault: "network", "tls", "auth" and so on.
func (f Fault) String() string {
	names := [...]string{"no fault", "network", "tls", "auth", "protocol", "refused", "mismatch", "limit"}
	if int(f) >= len(names) {
		return "fault " + strconv.Itoa(int(f))
	}
	return names[f]
}

// Refused reports whether err is the refusal of a server, for example because it has no such file.
func Refused(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Fault == FaultRefused
}

// An Error is the reason why a source did not deliver the requested bytes.
type Error struct {
	URL  string // of the failed request, masked and escaped; see Mask
	Host string // host:port of URL

	Fault Fault

	// Retry reports that another attempt at this source makes sense, but not before After has passed. If After is 0,
	// the caller chooses the delay. Otherwise it is the delay that the server requested, at most MaxAfter. If Retry is
	// false, After is the time for which the server asked to wait for a missing file; MaxAfter does not limit it.
	Retry bool
	After time.Duration
	// Held reports that no request was sent, because the rate of requests to the host is limited. After is the time
	// until the next free turn.
	Held bool

	Status int            // HTTP status; 0 without a response
	Told   bool           // the server requires another name and password than the request had
	Hops   []metalink.Hop // the responses so far, including the failed one
	Err    error          // cause, without the URL
}

// A ContentError reports that the content of a response does not match the digest in the response (RFC 9530, section
// 2). Some bytes of the content are wrong, and it is unknown which.
type ContentError struct {
	Got  verify.Digest
	Want verify.Claim
}

func (e *ContentError) Error() string {
	return fmt.Sprintf("the bytes of a response do not match its %s: %v is %.12s..., want %.12s...",
		e.Want.Field, e.Got.Algorithm(), e.Got.Hex(), e.Want.Digest.Hex())
}

// ErrNotAsked is the cause (Error.Err) if no request was sent, because the host has asked not to be contacted for a
// while.
var ErrNotAsked = errors.New("not asked")

// MaxAfter is the longest requested delay after which a server is asked again. A server that requests a longer delay is
// treated as down.
const MaxAfter = 120 * time.Second

// Error returns the host and the cause. It omits the URL, which the caller knows.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Host != "" {
		b.WriteString(Escape(e.Host))
		b.WriteString(": ")
	}
	switch {
	case e.Err != nil: // package net repeats the address
		b.WriteString(Escape(strings.TrimPrefix(e.Err.Error(), "dial tcp "+e.Host+": ")))
	case e.Status != 0:
		fmt.Fprintf(&b, "status %d", e.Status)
	default:
		b.WriteString(e.Fault.String())
	}
	return b.String()
}

// Unwrap returns the cause. Its text is not escaped.
func (e *Error) Unwrap() error { return e.Err }
