package download

import (
	"errors"

	"braid/verify/openpgp"
	"braid/verify/smime"
)

// severe reports whether a signature is wrong, and not only by somebody who does not count (rule 48).
func severe(err error) bool {
	k := kindOfSignature(err)
	return k == BadSignature || k == Limit
}

// kindOfSignature says whose problem the error of a signature is; Other if it is none.
func kindOfSignature(err error) Kind {
	var pgp *openpgp.Error
	var cms *smime.Error
	var long *longError
	switch {
	case errors.As(err, &long):
		return Limit
	case errors.As(err, &pgp):
		switch pgp.Kind {
		case openpgp.UnknownKey, openpgp.NotPinned:
			return NoKey
		case openpgp.Missing:
			return NoEvidence
		case openpgp.TooLarge:
			return Limit
		}
		return BadSignature
	case errors.As(err, &cms):
		switch cms.Kind {
		case smime.Missing:
			return NoEvidence
		case smime.TooLarge:
			return Limit
		case smime.NoChain, smime.NoCertificate: // as an OpenPGP key that is not in the keyring
			return NoKey
		}
		return BadSignature
	}
	return Other
}

// A signatureError says which signature was wrong.
type signatureError struct {
	from string
	err  error
}

func (e *signatureError) Error() string { return e.from + ": " + e.err.Error() }
func (e *signatureError) Unwrap() error { return e.err }
