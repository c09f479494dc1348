package verify

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A SignatureCode is the verdict on a signature, or on data that should contain a signature.
type SignatureCode uint8

const (
	// SignatureUnchecked means that no trusted key was given for the check, or that the file was not complete.
	SignatureUnchecked SignatureCode = iota
	// SignatureGood is the only verdict that proves anything.
	SignatureGood
	// SignatureMissing means that the data is empty.
	SignatureMissing
	// SignatureTooLarge means that the data exceeds 1 MiB, or has an unreasonable number of parts.
	SignatureTooLarge
	// SignatureMalformed means that the data is garbage or truncated, or that other data follows it.
	SignatureMalformed
	// SignatureNotOfFile means that the data is a message, a key, or a signature of something other than a file.
	SignatureNotOfFile
	// SignatureUnsupported means that the signature has an unsupported version, algorithm or critical part.
	SignatureUnsupported
	// SignatureUnknownKey means that the keyring does not contain the signer's key.
	SignatureUnknownKey
	// SignatureNotPinned means that the keyring has the signer's key, but the user's pins exclude it.
	SignatureNotPinned
	// SignatureNoCertificate means that the signer's certificate is neither in the message nor among the roots.
	SignatureNoCertificate
	// SignatureNoChain means that the signer's certificate does not chain to a root.
	SignatureNoChain
	// SignatureRevoked means that the key or its primary key was revoked.
	SignatureRevoked
	// SignatureKeyExpired means that the key has expired, or had already expired when the signature was made.
	SignatureKeyExpired
	// SignatureCertificateExpired means that a certificate has expired.
	SignatureCertificateExpired
	// SignatureCertificateNotYetValid means that a certificate is not valid yet.
	SignatureCertificateNotYetValid
	// SignatureKeyUnfit means that the key may not sign files, has no valid back-signature, or is younger than the
	// signature.
	SignatureKeyUnfit
	// SignatureExpired means that the signature has expired.
	SignatureExpired
	// SignatureFuture means that the signature's time is more than 10 minutes in the future.
	SignatureFuture
	// SignatureWeak means that the digest is weaker than SHA-256, that the key is a DSA key or an RSA key under 2048
	// bits, or that the curve of a certificate is not P-256, P-384 or P-521.
	SignatureWeak
	// SignatureBad means that the key did not sign this file.
	SignatureBad
	// SignatureLocked means that the secret key needs a passphrase, or that the passphrase is wrong.
	SignatureLocked
)

var signatureCodes = [...]string{
	SignatureUnchecked: "not validated", SignatureGood: "good", SignatureMissing: "missing", SignatureTooLarge: "too large",
	SignatureMalformed: "malformed", SignatureNotOfFile: "not a signature of a file", SignatureUnsupported: "not supported",
	SignatureUnknownKey: "unknown key", SignatureNotPinned: "key not pinned", SignatureNoCertificate: "no certificate",
	SignatureNoChain: "no chain to a root", SignatureRevoked: "key revoked", SignatureKeyExpired: "key expired",
	SignatureCertificateExpired: "certificate expired", SignatureCertificateNotYetValid: "certificate not yet valid",
	SignatureKeyUnfit: "key may not sign files", SignatureExpired: "signature expired",
	SignatureFuture: "signature from the future",
	SignatureWeak:   "weak", SignatureBad: "bad", SignatureLocked: "key locked",
}

// String returns the verdict in a few words.
func (c SignatureCode) String() string {
	if int(c) >= len(signatureCodes) {
		return "unknown verdict"
	}
	return signatureCodes[c]
}

// A SignatureResult is the verdict on one signature, with details from the signature and its key. The details are
// proven only if Code is SignatureGood. Time is never proven. All strings are printable and fit on a line. Results can
// be compared with ==.
type SignatureResult struct {
	Kind   string // Name of the SignatureKind
	Code   SignatureCode
	Reason string    // details
	Key    string    // fingerprint or id of the key, or SHA-256 of the certificate, in the notation of Kind; "" if unavailable
	Subkey string    // fingerprint of the OpenPGP subkey that signed; "" if the primary key signed
	Signer string    // quoted user ID or subject of the certificate; if there is no key, as the signature states it; or ""
	Time   time.Time // the creation time in the signature, or zero
	Hash   string    // "SHA-512", "RSA-PSS 3072 with SHA-256"; "" if unknown
	From   string    // the signature's masked URL or path; "" if unknown
	Pinned bool      // the user's pins include this key
}

// String names the signer and the day: `OpenPGP signature by 0123..., "Alice <alice@example.org>", dated 2026-01-11`.
func (r SignatureResult) String() string {
	s := r.Kind + " signature by " + r.Key
	if r.Signer != "" {
		s += ", " + r.Signer
	}
	if !r.Time.IsZero() {
		s += ", dated " + r.Time.UTC().Format(time.DateOnly)
	}
	return s
}

// GoodSignature returns the first good signature.
func GoodSignature(all []SignatureResult) (good SignatureResult, ok bool) {
	i := slices.IndexFunc(all, func(r SignatureResult) bool { return r.Code == SignatureGood })
	if i < 0 {
		return SignatureResult{}, false
	}
	return all[i], true
}

// A SignatureChecker checks a file against the signatures in one signature file. The caller writes the file, and then
// calls Signatures. A SignatureChecker is not safe for concurrent use.
type SignatureChecker interface {
	// Write takes the next bytes of the file. It never fails.
	io.Writer

	// Signatures takes the bytes written so far as the whole file, and returns the verdict on each signature. If it
	// returns an error, the file must not be used, even if digests match. If it returns neither an error nor a good
	// signature, nothing was validated because no key was given.
	Signatures() ([]SignatureResult, error)
}

// A SignatureError reports why a signature is not accepted, a keyring cannot be used, or signing failed.
type SignatureError struct {
	Code       SignatureCode
	Of         string            // the rejected object: "keyring", "secret key"; "" for a signature
	By         string            // fingerprint of the key, or the quoted name of the signer; "" if unknown
	Reason     string            // details; printable, on one line
	Signatures []SignatureResult // the verdicts, if the signatures could be read
}

// Error returns one line: "signature by 0123...: key revoked: on 2026-01-11, no longer used".
func (e *SignatureError) Error() string {
	var s strings.Builder
	s.WriteString(cmp.Or(e.Of, "signature"))
	if e.By != "" && e.Of == "" {
		s.WriteString(" by")
	}
	for _, part := range []struct{ before, text string }{{" ", e.By}, {": ", e.Code.String()}, {": ", e.Reason}} {
		if part.text != "" {
			s.WriteString(part.before + part.text)
		}
	}
	if n := len(e.Signatures); n > 1 {
		fmt.Fprintf(&s, " (one of %d signatures)", n)
	}
	return s.String()
}

// JudgeSignatures returns nil if a signature in all is good and none by an accepted key is bad. Otherwise it returns a
// *SignatureError with the most informative verdict: a bad signature, then another fault with a trusted key, then an
// untrusted key, then an unknown key, then a signature that could not be read and names no key. by returns the signer's
// name for the error.
func JudgeSignatures(all []SignatureResult, by func(SignatureResult) string) error {
	rank := func(r SignatureResult) int {
		switch r.Code {
		case SignatureBad:
			return 0
		case SignatureNotPinned, SignatureNoChain:
			return 2
		case SignatureUnknownKey, SignatureNoCertificate:
			return 3
		case SignatureUnsupported:
			if r.Key == "" {
				return 4
			}
		case SignatureGood:
			return 5
		}
		return 1
	}
	worst := slices.MinFunc(all, func(a, b SignatureResult) int { return cmp.Compare(rank(a), rank(b)) })
	if _, good := GoodSignature(all); good && worst.Code != SignatureBad {
		return nil
	}
	return &SignatureError{Code: worst.Code, By: by(worst), Reason: worst.Reason, Signatures: all}
}

// byStranger reports whether err is a *SignatureError about a signer that is not trusted.
func byStranger(err error) bool {
	e, ok := errors.AsType[*SignatureError](err)
	if !ok {
		return false
	}
	switch e.Code {
	case SignatureUnknownKey, SignatureNotPinned, SignatureNoCertificate, SignatureNoChain:
		return true
	}
	return false
}
