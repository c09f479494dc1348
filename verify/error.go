package verify

import (
	"braid/internal/mask"
	"fmt"
)

// A DigestError reports a digest field that is malformed, or that contradicts another digest field of the same
// response. In the case of a contradiction, it wraps a *ConflictError.
type DigestError struct {
	Field string // "Digest", "Repr-Digest" or a name in StoreFieldNames
	Value string // the faulty part, as received, possibly shortened
	Why   string // the fault
	Err   error  // the cause, or nil
	Note  bool   // the field belongs to storeFields: a malformed value is reported, but is no error
}

// Error quotes the value, at most 200 bytes of it.
func (e *DigestError) Error() string {
	return fmt.Sprintf("%s %s: %s", e.Field, mask.Quote(e.Value, 200), e.Why)
}

// Unwrap returns the cause.
func (e *DigestError) Unwrap() error { return e.Err }

// A ConflictError reports two claims with different values for one algorithm.
type ConflictError struct{ A, B Claim }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%v is %s (%s) and %s (%s)", e.A.Digest.Algorithm(),
		e.A.Digest.Hex(), e.A.from(), e.B.Digest.Hex(), e.B.from())
}

// A MismatchError reports a file with another digest than claimed. Got is the digest of the file.
type MismatchError struct {
	Claim Claim
	Got   Digest
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%v is %s, want %s (%s)", e.Claim.Digest.Algorithm(),
		e.Got.Hex(), e.Claim.Digest.Hex(), e.Claim.from())
}

// A SizeError reports a file of the wrong size. If Got exceeds Want, the file may be longer than Got.
type SizeError struct{ Got, Want int64 }

func (e *SizeError) Error() string {
	if e.Got > e.Want {
		return fmt.Sprintf("longer than the %d bytes expected", e.Want)
	}
	return fmt.Sprintf("ends after %d of %d bytes", e.Got, e.Want)
}
