package openpgp

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Kind is a verdict on a signature, or on the file that should hold it.
type Kind uint8

const (
	// Unchecked: there is no anchor to check it with, or the file was not complete yet (rule 51).
	Unchecked Kind = iota
	// Good is the only verdict that proves anything.
	Good
	// Missing: nothing is there (exit 12).
	Missing
	// TooLarge: over 1 MiB, or more than could be honest (exit 14).
	TooLarge
	// UnknownKey: the keyring does not have the key (exit 9).
	UnknownKey
	// NotPinned: the keyring has the key, but it is not one of the pins (exit 9).
	NotPinned
	// NotDetached and all that follow, up to Bad, are exit 10. NotDetached: a signed message, a cleartext signature, a key, or a
	// signature of something else than a binary file.
	NotDetached
	// Malformed: garbage, or cut off.
	Malformed
	// Unsupported: something in it that must be understood is not: a version, an algorithm, a critical subpacket or notation.
	Unsupported
	// Revoked: the key, or the primary key it hangs on, was revoked.
	Revoked
	// KeyExpired: the key has expired, now or already when it signed.
	KeyExpired
	// KeyUnfit: the key is not entitled to sign files: not made for it, without a valid back-signature, or younger than the signature.
	KeyUnfit
	// SignatureExpired: the signature says that it no longer holds.
	SignatureExpired
	// Future: the signature is from more than 10 minutes ahead.
	Future
	// Weak: a digest under SHA-256, RSA under 2048 bits, or DSA.
	Weak
	// Bad: the key did not sign these bytes.
	Bad
	// Locked: the secret key needs a passphrase, or another one.
	Locked
)

var kindNames = [...]string{
	Unchecked:        "not validated",
	Good:             "good",
	Missing:          "missing",
	TooLarge:         "too large",
	UnknownKey:       "unknown key",
	NotPinned:        "key not pinned",
	NotDetached:      "not a detached signature of a file",
	Malformed:        "malformed",
	Unsupported:      "not supported",
	Revoked:          "key revoked",
	KeyExpired:       "key expired",
	KeyUnfit:         "key may not sign files",
	SignatureExpired: "signature expired",
	Future:           "signature from the future",
	Weak:             "weak",
	Bad:              "bad",
	Locked:           "key locked",
}

// String is the verdict in a few words.
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return "unknown verdict"
	}
	return kindNames[k]
}

// An Error says why a signature does not count, a keyring cannot be used or nothing could be signed.
type Error struct {
	Kind Kind
	// Key is the key in question, if that much is known.
	Key Fingerprint
	// Reason says more than Kind. What others wrote is quoted in it.
	Reason string
	// Signatures has the verdict on each signature, if the file could be read.
	Signatures []Signature

	subject string // "keyring", "secret key"; empty: a signature
}

// Error is one line: "signature by 0123...: key revoked: on 2026-01-11, no longer used".
func (e *Error) Error() string {
	var s strings.Builder
	s.WriteString(cmp.Or(e.subject, "signature"))
	switch {
	case e.Key.IsZero():
	case e.subject == "":
		s.WriteString(" by " + e.Key.String())
	default:
		s.WriteString(" " + e.Key.String())
	}
	s.WriteString(": " + e.Kind.String())
	if e.Reason != "" {
		s.WriteString(": " + e.Reason)
	}
	if n := len(e.Signatures); n > 1 {
		fmt.Fprintf(&s, " (one of %d signatures)", n)
	}
	return s.String()
}

func fail(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Reason: fmt.Sprintf(format, args...)}
}

// about is err, which may be nil, about something else than a signature.
func about(subject string, err error) error {
	var e *Error
	if errors.As(err, &e) {
		e.subject = subject
	}
	return err
}

// quote makes s fit for a line: it is a stranger's word, of any length (rule 61).
func quote(s string) string { return strconv.Quote(bounded(s)) }

// bounded is s as valid UTF-8, at its first 200 bytes.
func bounded(s string) string {
	const most = 200
	return strings.ToValidUTF8(s[:min(len(s), most)], "\uFFFD")
}
