package smime

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Result is what a message proves of a file.
type Result struct {
	// Validated says that somebody whose certificate leads to a root signed these bytes. Otherwise there was no anchor.
	Validated bool
	// Signatures has the verdict on each signer, in the order of the message.
	Signatures []Signature
}

// A Signature is the verdict on one signer and what message and certificate say of it. All text in it can be printed. Nothing
// of it is proven unless it is Good, and SigningTime never is.
type Signature struct {
	Kind        Kind
	Reason      string    // more words
	Subject     string    // of the certificate, or how the message refers to it if there is none
	Emails      []string  // of the certificate's alternative names
	Fingerprint string    // SHA-256 of the certificate, in hexadecimal digits; "" if there is none
	Algorithm   string    // "RSA-PSS 3072 with SHA-256"; "" if it does not count
	SigningTime time.Time // by the signer's own word; zero if there is none
}

// String is one line: `good signature by "CN=Alice <alice@example.org>", certificate 0123..., ECDSA P-256 with SHA-256, signed
// 2026-01-01T00:00:00Z by its own word`.
func (s Signature) String() string {
	var t strings.Builder
	fmt.Fprintf(&t, "%v signature by %s", s.Kind, s.who())
	if s.Fingerprint != "" {
		t.WriteString(", certificate " + s.Fingerprint)
	}
	if s.Algorithm != "" {
		t.WriteString(", " + s.Algorithm)
	}
	if !s.SigningTime.IsZero() {
		t.WriteString(", signed " + moment(s.SigningTime) + " by its own word")
	}
	if s.Reason != "" {
		t.WriteString(": " + s.Reason)
	}
	return t.String()
}

// who is in quotes: anybody can call himself anything.
func (s Signature) who() string {
	name := s.Subject
	for _, address := range s.Emails {
		name += " <" + address + ">"
	}
	return strconv.Quote(name)
}

// Signer is the first good signature.
func (r Result) Signer() (Signature, bool) {
	i := r.first()
	if i < 0 {
		return Signature{}, false
	}
	return r.Signatures[i], true
}

// first is the index of the first good signature, or -1.
func (r Result) first() int {
	return slices.IndexFunc(r.Signatures, func(s Signature) bool { return s.Kind == Good })
}

// String is one line: the first good signature and who signed beside it, or that there is no anchor (rule 51).
func (r Result) String() string {
	first := r.first()
	if first < 0 {
		return "signature present, not validated: no anchor"
	}
	line := r.Signatures[first].String()
	for i, s := range r.Signatures {
		if i != first {
			line += fmt.Sprintf("; and %s (%v)", s.who(), s.Kind)
		}
	}
	return line
}

// worst makes an error of the verdict that says most of why a file does not pass: a bad signature by somebody whose
// chain is good, then another fault, then signers that no root knows.
func worst(all []Signature) *Error {
	rank := func(s Signature) int {
		switch s.Kind {
		case Bad:
			return 0
		case NoChain:
			return 2
		case NoCertificate:
			return 3
		case Good:
			return 4
		}
		return 1
	}
	s := slices.MinFunc(all, func(a, b Signature) int { return cmp.Compare(rank(a), rank(b)) })
	return &Error{Kind: s.Kind, Subject: s.Subject, Reason: s.Reason, Signatures: all}
}
