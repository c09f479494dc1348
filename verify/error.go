package verify

import (
	"braid/internal/mask"
	"fmt"
)

// A DigestError says that a digest field cannot be used: it is malformed or contradicts another
// of the same answer (it then wraps a *ConflictError). That is never the same as no digest.
type DigestError struct {
	Field string // "Digest", "Repr-Digest" or the name of a store's field
	Value string // the part that is wrong, as received
	Why   string // what is wrong with it
	Err   error  // nil, or what is behind it
	Note  bool   // the field is a store's own: a malformed value is ignored, not an error
}

// Error shows the value escaped and at no more than 200 bytes.
func (e *DigestError) Error() string {
	return fmt.Sprintf("%s %s: %s", e.Field, mask.Quote(e.Value, 200), e.Why)
}

// Unwrap gives what is behind the error.
func (e *DigestError) Unwrap() error { return e.Err }

// A ConflictError says that two claims give one algorithm two values.
type ConflictError struct{ A, B Claim }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%v is %s (%s) and %s (%s)", e.A.Digest.Algorithm(),
		e.A.Digest.Hex(), e.A.from(), e.B.Digest.Hex(), e.B.from())
}

// A MismatchError says that a file does not have the digest that was claimed.
type MismatchError struct {
	Claim Claim
	Got   Digest
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%v is %s, want %s (%s)", e.Claim.Digest.Algorithm(),
		e.Got.Hex(), e.Claim.Digest.Hex(), e.Claim.from())
}

// A SizeError says that a file does not have the size that it should. If there is more than Want, Got may
// be less than all there is.
type SizeError struct{ Got, Want int64 }

func (e *SizeError) Error() string {
	if e.Got > e.Want {
		return fmt.Sprintf("longer than the %d bytes expected", e.Want)
	}
	return fmt.Sprintf("ends after %d of %d bytes", e.Got, e.Want)
}
