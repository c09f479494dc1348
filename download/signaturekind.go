package download

import (
	"bytes"
	"errors"

	"braid/verify"
)

// kindOfData tells a CMS message from OpenPGP: by its label, or as it begins as a SEQUENCE does.
func kindOfData(data []byte) verify.SignatureKind {
	text := bytes.TrimSpace(data)
	lower := bytes.ToLower(text[:min(len(text), len("content-type:"))])
	switch {
	case bytes.HasPrefix(text, []byte("-----BEGIN PGP")):
	case bytes.HasPrefix(text, []byte("-----BEGIN ")), bytes.HasPrefix(lower, []byte("content-type:")), bytes.HasPrefix(lower, []byte("mime-version:")),
		len(data) > 0 && data[0] == 0x30:
		return verify.SMIME
	}
	return verify.OpenPGP
}

// severe reports whether a signature is wrong, and not only by a key that does not count.
func severe(err error) bool {
	k := kindOfSignature(err)
	return k == BadSignature || k == Limit
}

// kindOfSignature says whose problem the error of a signature is; Other if it is none.
func kindOfSignature(err error) Kind {
	if _, long := errors.AsType[*longError](err); long {
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

// A signatureError says which signature was wrong.
type signatureError struct {
	from string
	err  error
}

func (e *signatureError) Error() string { return e.from + ": " + e.err.Error() }
func (e *signatureError) Unwrap() error { return e.err }
