package verify

import (
	"io"
	"time"
)

// A Signer makes signatures of one kind with an unlocked secret key. It is safe for concurrent use.
type Signer interface {
	// Kind returns the kind of the signatures.
	Kind() *SignatureKind

	// Key returns the fingerprint or id of the signing key.
	Key() string

	// Begin begins the signature of a file. The name of the file is part of the signature if the kind supports that.
	// The error is a *SignatureError if the key cannot sign any more.
	Begin(name string, now time.Time) (Signing, error)
}

// A Signing signs the bytes that are written to it, in order. It is not safe for concurrent use.
type Signing interface {
	io.Writer

	// Signature returns the text of the signature of the bytes written. It must be called only once.
	Signature() ([]byte, error)
}
