package download

import (
	"errors"

	"braid/internal/small"
	"braid/verify"
)

// severe reports whether err means that a signature is wrong or too large, and not only that its key does not count.
func severe(err error) bool {
	k := kindOfSignature(err)
	return k == BadSignature || k == Limit
}

// kindOfSignature returns the kind of an error of a signature. It returns Other if err is not such an error.
func kindOfSignature(err error) Kind {
	if _, long := errors.AsType[*small.LongError](err); long {
		return Limit
	}
	e, ok := errors.AsType[*verify.SignatureError](err)
	if !ok {
		return Other
	}
	switch e.Code {
	case verify.SignatureUnknownKey, verify.SignatureNotPinned, verify.SignatureNoChain, verify.SignatureNoCertificate:
		return NoKey
	case verify.SignatureMissing:
		return NoEvidence
	case verify.SignatureTooLarge:
		return Limit
	}
	return BadSignature
}

// A signatureError is the error of one signature.
type signatureError struct {
	from string
	err  error
}

func (e *signatureError) Error() string { return e.from + ": " + e.err.Error() }
func (e *signatureError) Unwrap() error { return e.err }
