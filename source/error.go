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

// A Fault says whose fault a failure was and of what kind. Each is one exit code.
type Fault uint8

// The faults, with the exit code of a download that could not do without the source.
const (
	FaultNetwork  Fault = iota + 1 // 4: no address, no connection, silence, a body cut short
	FaultTLS                       // 5: the server could not prove who it is, or the channel was cut
	FaultAuth                      // 6: the server wants a name and password
	FaultProtocol                  // 7: the answer makes no sense, or is not the one to this request
	FaultRefused                   // 8: the server says no
	FaultMismatch                  // 11: size, digest or validator are of another file
	FaultLimit                     // 14: more than a sane server sends
)

// String names the fault: "network", "tls", "auth" and so on.
func (f Fault) String() string {
	names := [...]string{"no fault", "network", "tls", "auth", "protocol", "refused", "mismatch", "limit"}
	if int(f) >= len(names) {
		return "fault " + strconv.Itoa(int(f))
	}
	return names[f]
}

// An Error says why a source did not bring what it was asked for.
type Error struct {
	URL  string // of the request that failed, masked and escaped; see Mask
	Host string // its host:port

	Fault Fault

	// Retry says that another try at this source makes sense, After not before which time has passed. If
	// After is 0, it is for the caller's back-off to say; else it is what the server asked for, at most
	// MaxAfter.
	Retry bool
	After time.Duration
	// Held says that the source was not asked: its host is to get only so many requests a second. After is when its turn is.
	Held bool

	Status int            // of the HTTP answer; 0 if there was none
	Told   bool           // the server, which wants a name and a password, was told some
	Hops   []metalink.Hop // the answers up to the failure, that included if it is one
	Err    error          // what went wrong, without the URL
}

// A ContentError says that what an answer brought is not what the answer says of it (RFC 9530, section 2). Some of it is wrong,
// and nothing tells what.
type ContentError struct {
	Got  verify.Digest
	Want verify.Claim
}

func (e *ContentError) Error() string {
	return fmt.Sprintf("the bytes of an answer do not fit its %s: %v is %.12s..., want %.12s...",
		e.Want.Field, e.Got.Algorithm(), e.Got.Hex(), e.Want.Digest.Hex())
}

// ErrNotAsked is what went wrong (Error.Err) with a source whose host is to be left alone, as it has said to another request.
var ErrNotAsked = errors.New("not asked")

// MaxAfter is the longest time that a server can make its clients wait. One that wants more is
// down.
const MaxAfter = 120 * time.Second

// Error names host and cause; it leaves the URL to the caller, who knows the source.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Host != "" {
		b.WriteString(Escape(e.Host))
		b.WriteString(": ")
	}
	switch {
	case e.Err != nil: // the net package names the address once more
		b.WriteString(Escape(strings.TrimPrefix(e.Err.Error(), "dial tcp "+e.Host+": ")))
	case e.Status != 0:
		fmt.Fprintf(&b, "status %d", e.Status)
	default:
		b.WriteString(e.Fault.String())
	}
	return b.String()
}

// Unwrap returns what went wrong. Its text is as it came and may need Escape.
func (e *Error) Unwrap() error { return e.Err }
