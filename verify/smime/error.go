package smime

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// A Kind is a verdict on a signature, or on the message that should hold it.
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
	// Malformed and all that follow but NoCertificate and NoChain are exit 10 (rule 49). Malformed: garbage, cut off, or with something behind it.
	Malformed
	// NotSigned: a CMS message, but not signed data about a file with signed attributes.
	NotSigned
	// Unsupported: an algorithm or parameter that is not known here.
	Unsupported
	// NoCertificate: the signer's certificate is neither in the message nor among the roots (exit 9).
	NoCertificate
	// NoChain: the signer's certificate leads to none of the roots (exit 9).
	NoChain
	// Expired: a certificate is no longer valid.
	Expired
	// NotYetValid: a certificate is not valid yet.
	NotYetValid
	// Unfit: the certificate is not for signing mail (or code, where the policy takes that).
	Unfit
	// Weak: a digest under SHA-256, RSA under 2048 bits, or another curve than P-256, P-384 and P-521.
	Weak
	// Bad: the key did not sign these bytes.
	Bad
)

var kindNames = [...]string{
	Unchecked:     "not validated",
	Good:          "good",
	Missing:       "missing",
	TooLarge:      "too large",
	Malformed:     "malformed",
	NotSigned:     "not a signature of a file",
	Unsupported:   "not supported",
	NoCertificate: "no certificate",
	NoChain:       "no chain to a root",
	Expired:       "certificate expired",
	NotYetValid:   "certificate not yet valid",
	Unfit:         "certificate may not sign files",
	Weak:          "weak",
	Bad:           "bad",
}

// String is the verdict in a few words.
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return "unknown verdict"
	}
	return kindNames[k]
}

// An Error says why a signature does not count.
type Error struct {
	Kind Kind
	// Subject names the signer, if that much is known: the subject of the certificate, or how the message refers to it.
	Subject string
	// Reason says more than Kind.
	Reason string
	// Signatures has the verdict on each signer, if the message could be read.
	Signatures []Signature
}

// Error is one line: `signature by "CN=Alice": certificate expired: since 2026-01-01T00:00:00Z`. All of it can be printed.
func (e *Error) Error() string {
	var s strings.Builder
	s.WriteString("signature")
	if e.Subject != "" {
		s.WriteString(" by " + strconv.Quote(e.Subject))
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

// printable makes s fit for a line and a terminal: it is a stranger's word, of any length (rule 61). What is no printable
// character, direction marks among them, becomes U+FFFD.
func printable(s string) string {
	const most = 200
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
