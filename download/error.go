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

// A Kind is the kind of problem that ended a download. Each has its own exit code in the command.
type Kind uint8

// The kinds, from where the fault lies.
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
	NoEvidence        // verification demanded and nothing to verify with
	Budget            // retries used up; the work so far is kept
	Limit             // larger than allowed
	Interrupted       // the context ended
	NoKey             // a signature is by a key that is not trusted
	BadSignature      // a signature is bad, expired, revoked or not one of the file
)

// String is the kind in a word or two: "network", "no evidence".
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

// An Error is what every method of [Client] that fails returns: what went wrong, where, what was kept and what to do next. Err
// has the cause for errors.Is and errors.As: context.Canceled, fs.ErrExist, a *[NoSourceError], a *[verify.MismatchError].
type Error struct {
	Kind  Kind
	What  string // what was being done: "download", "part file"
	Where string // masked URL or path; "" if the request names none
	Err   error
	Kept  int64  // bytes in the part file
	Part  string // path of the part file, "" if none is kept
	Hint  Hint   // the next step
}

// Error is one line. What others wrote in it is not escaped.
func (e *Error) Error() string {
	if e.Where == "" {
		return fmt.Sprintf("%s: %v", e.What, e.Err)
	}
	return fmt.Sprintf("%s %s: %v", e.What, e.Where, e.Err)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// fail makes an Error of this package.
func fail(k Kind, what, where string, err error, hint Hint) *Error {
	return &Error{Kind: k, What: what, Where: where, Err: err, Hint: hint}
}

// A fault is a problem that a download found itself, with the kind that it is of. One that is final ends the download, whatever
// other sources have.
type fault struct {
	kind  Kind
	what  string // "" if cause says it
	cause error  // or nil
	final bool
}

func (f *fault) Error() string {
	if f.what == "" {
		return f.cause.Error()
	}
	return f.what
}

func (f *fault) Unwrap() error { return f.cause }

// local is a fault on this side: the disk.
func local(err error) error { return &fault{kind: Local, cause: err, final: true} }

// outputFault is the error of a stream whose receiver takes no more.
func outputFault(err error) error {
	return &fault{kind: Local, what: "output: " + err.Error(), cause: err}
}

// tooLong is the error of a file of unknown length that is longer than any may be.
func tooLong(most int64) error {
	return &fault{kind: Limit, what: fmt.Sprintf("no length was announced and more than %d bytes came", most), final: true}
}

// isFinal reports whether an error ends the download.
func isFinal(err error) bool {
	var f *fault
	return errors.As(err, &f) && f.final
}

// kindOf is the kind of an error.
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
	if src, ok := errors.AsType[*source.Error](err); ok { // before what it wraps: a time that ran out at a server's is no interruption
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
		is[*partfile.MovedError](err),
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

// wrap makes the error that Get and Probe return.
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

// namesExcluded reports whether the host of the request's own URL turned out to have an excluded address.
func namesExcluded(r *Request, err error) bool {
	near, ok := errors.AsType[*address.Error](err)
	src, named := errors.AsType[*source.Error](err)
	return ok && near.Excluded != "" && named && r.URL != nil && r.Described == nil && src.Host == source.HostPort(r.URL)
}
