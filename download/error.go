package download

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"braid/address"
	"braid/internal/partfile"
	"braid/metalink"
	"braid/metalink/metainfo"
	"braid/source"
	"braid/verify"
	"braid/verify/sums"
)

// A Kind is the kind of problem that ended a download. The braid command has an exit code for each kind.
type Kind uint8

const (
	Other        Kind = iota
	Usage             // the request makes no sense
	Local             // our file system: name, space, permission, in use
	Network           // no source could be reached
	TLS               // certificate or handshake
	Auth              // credentials missing or refused
	Protocol          // contradictory or malformed metadata
	Refused           // the server has no such file
	Mismatch          // digest or size differ
	NoEvidence        // the request demands proof, and evidence is lacking
	Budget            // retries used up, or too slow; the received bytes are kept
	Limit             // larger than allowed
	Interrupted       // the context ended
	NoKey             // a signature is by a key that is not trusted
	BadSignature      // a signature is bad, expired, revoked or not of this file
)

// String returns the kind in a word or two: "network", "no evidence".
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

var kinds = [...]string{
	Other: "other", Usage: "usage", Local: "local", Network: "network", TLS: "tls", Auth: "auth",
	Protocol: "protocol", Refused: "refused",
	Mismatch: "mismatch", NoEvidence: "no evidence", Budget: "retries used up", Limit: "limit",
	Interrupted: "interrupted", NoKey: "no key",
	BadSignature: "bad signature",
}

// An Error is the error of every method of [Client]. Err is the cause, for errors.Is and errors.As: context.Canceled,
// fs.ErrExist, a *[NoSourceError], a *[verify.MismatchError].
type Error struct {
	Kind  Kind
	What  string // the operation: "download", "part file"
	Where string // masked URL or path; "" if the request names none
	Err   error
	Kept  int64    // bytes in the part file
	Part  string   // path of the part file, "" if none is kept
	Aside []string // if no part file is kept, the paths of useless files that were set aside
	There string   // if no part file is kept, the path of an earlier file, which was not changed
	Hint  Hint     // the next step
}

// Error returns one line. Text from servers and documents is not escaped.
func (e *Error) Error() string {
	if e.Where == "" {
		return fmt.Sprintf("%s: %v", e.What, e.Err)
	}
	return fmt.Sprintf("%s %s: %v", e.What, e.Where, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// fail returns an *Error of this package.
func fail(k Kind, what, where string, err error, hint Hint) *Error {
	return &Error{Kind: k, What: what, Where: where, Err: err, Hint: hint}
}

// A fault is a problem that this package found. A final fault ends the download even if other sources are left.
type fault struct {
	kind  Kind
	what  string // if empty, the text of cause
	cause error  // may be nil
	final bool
}

func (f *fault) Error() string {
	if f.what == "" {
		return f.cause.Error()
	}
	return f.what
}

func (f *fault) Unwrap() error { return f.cause }

// local returns a final fault of this machine, for example of the disk.
func local(err error) error { return &fault{kind: Local, cause: err, final: true} }

// outputFault returns the error of a stream that failed with err.
func outputFault(err error) error {
	return &fault{kind: Local, what: "output: " + err.Error(), cause: err}
}

// tooLong returns the error of a file of unknown length that exceeds the limit most.
func tooLong(most int64) error {
	return &fault{kind: Limit, what: fmt.Sprintf("received more than %d bytes, and no length was announced", most), final: true}
}

// isFinal reports whether err ends the download.
func isFinal(err error) bool {
	var f *fault
	return errors.As(err, &f) && f.final
}

// kindOf returns the kind of err.
func kindOf(err error) Kind {
	if k := kindOfSignature(err); k != Other {
		return k
	}
	if own, ok := errors.AsType[*Error](err); ok {
		return own.Kind
	}
	if is[*TargetError](err) {
		return Local
	}
	if is[*verify.MismatchError](err) || is[*verify.SizeError](err) || is[*verify.PieceError](err) {
		return Mismatch
	}
	if src, ok := errors.AsType[*source.Error](err); ok { // its cause may be a timeout, which is no interruption
		return kindOfFault(src.Fault)
	}
	coded, isCoded := errors.AsType[*fault](err)
	switch {
	case is[*verify.DigestError](err), is[*verify.ConflictError](err), is[*metalink.Error](err),
		is[*metalink.OtherFileError](err),
		is[*sums.Error](err), is[*metainfo.Error](err):
		return Protocol
	case is[*sums.LimitError](err):
		return Limit
	case is[*sums.NotFoundError](err), is[*sums.AmbiguousError](err), errors.Is(err, errNoAnchor):
		return NoEvidence
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Interrupted
	case isCoded:
		return coded.kind
	case is[*partfile.NameError](err), is[*partfile.InUseError](err), is[*partfile.TouchedError](err),
		is[*partfile.MovedError](err), is[*partfile.NewerError](err),
		is[*fs.PathError](err), is[syscall.Errno](err):
		return Local
	}
	return Other
}

// is reports whether err is, or wraps, an error of type E.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func kindOfFault(f source.Fault) Kind {
	kinds := map[source.Fault]Kind{
		source.FaultNetwork: Network, source.FaultTLS: TLS, source.FaultAuth: Auth, source.FaultProtocol: Protocol,
		source.FaultRefused: Refused, source.FaultMismatch: Mismatch, source.FaultLimit: Limit,
	}
	return kinds[f]
}

// wrap returns err as the *Error that Get and Probe return.
func wrap(err error, what string, req *Request) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	kind := kindOf(err)
	if namesExcluded(req, err) {
		kind = Usage
	}
	return &Error{Kind: kind, What: what, Where: source.Mask(req.URL), Err: err}
}

// namesExcluded reports whether err means that the host of r.URL turned out to have an excluded address.
func namesExcluded(r *Request, err error) bool {
	near, ok := errors.AsType[*address.Error](err)
	src, named := errors.AsType[*source.Error](err)
	return ok && near.Excluded != "" && named && r.URL != nil && r.Described == nil && src.Host == source.HostPort(r.URL)
}
