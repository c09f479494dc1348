package openpgp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Result is what signatures prove of a file.
type Result struct {
	// Validated says that a pinned key signed these bytes. Otherwise there was no anchor.
	Validated bool
	// Signatures has the verdict on each signature, in the order of the file.
	Signatures []Signature
}

// A Signature is the verdict on one signature and what it says of itself.
type Signature struct {
	Kind    Kind
	Reason  string      // more words; what others wrote is quoted
	Key     Fingerprint // of the primary key or subkey that made it; none if the keyring does not have it
	Primary Fingerprint // of the primary key, if Good or Bad
	Issuer  string      // which key it says made it: a fingerprint, a key ID or "nobody"
	UserID  string      // of the primary key, if Good or Bad: a stranger's word at 200 bytes at most, not escaped
	Created time.Time   // by its own word; zero if that could not be read
	Hash    string      // "SHA-512"
}

// describe is what w says of itself.
func describe(w written) Signature {
	s := Signature{Issuer: w.issuer.String(), Hash: digests[w.hash].name}
	if w.sig != nil {
		s.Created = w.sig.CreationTime
	}
	return s
}

// String is one line: `good signature by 0123..., "Alice <alice@example.org>", 2026-01-01T00:00:00Z, SHA-512`. The user ID is quoted.
func (s Signature) String() string {
	var t strings.Builder
	fmt.Fprintf(&t, "%v signature by %s", s.Kind, cmp.Or(s.Primary, s.Key).orElse(s.Issuer))
	if s.Primary != s.Key && !s.Primary.IsZero() {
		fmt.Fprintf(&t, " (subkey %v)", s.Key)
	}
	if s.UserID != "" {
		t.WriteString(", " + quote(s.UserID))
	}
	if !s.Created.IsZero() {
		t.WriteString(", " + moment(s.Created))
	}
	if s.Hash != "" {
		t.WriteString(", " + s.Hash)
	}
	if s.Reason != "" {
		t.WriteString(": " + s.Reason)
	}
	return t.String()
}

func (f Fingerprint) orElse(name string) string {
	if f.IsZero() {
		return name
	}
	return f.String()
}

// Signer is the first good signature.
func (r Result) Signer() (Signature, bool) {
	i := slices.IndexFunc(r.Signatures, func(s Signature) bool { return s.Kind == Good })
	if !r.Validated || i < 0 {
		return Signature{}, false
	}
	return r.Signatures[i], true
}

// String is one line: the first good signature and how many there are beside it, or that there is no anchor (rule 51).
func (r Result) String() string {
	s, ok := r.Signer()
	if !ok {
		return "signature present, not validated: no anchor"
	}
	if n := len(r.Signatures) - 1; n > 0 {
		return fmt.Sprintf("%v; and %s", s, others(r.Signatures))
	}
	return s.String()
}

// others names the signatures beside the first good one, by what became of them.
func others(all []Signature) string {
	var names []string
	first := true
	for _, s := range all {
		if s.Kind == Good && first {
			first = false
			continue
		}
		names = append(names, fmt.Sprintf("%v (%v)", s.Key.orElse(s.Issuer), s.Kind))
	}
	return strings.Join(names, ", ")
}

// worst makes an error of the verdict that says most of why a file does not pass: a bad signature by a pinned key, then
// another fault with a pinned key, then keys that are not pinned, and unknown ones last.
func worst(all []Signature) *Error {
	rank := func(s Signature) int {
		switch s.Kind {
		case Bad:
			return 0
		case NotPinned:
			return 2
		case UnknownKey:
			return 3
		case Unsupported:
			if s.Key.IsZero() {
				return 4
			}
		case Good:
			return 5
		}
		return 1
	}
	s := slices.MinFunc(all, func(a, b Signature) int { return cmp.Compare(rank(a), rank(b)) })
	return &Error{Kind: s.Kind, Key: s.Key, Reason: s.Reason, Signatures: all}
}
