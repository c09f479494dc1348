package verify

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A SignatureCode is the verdict on a signature, or on the data that should hold it.
type SignatureCode uint8

const (
	// SignatureUnchecked: no key is trusted that it could be checked with, or the file was not complete yet.
	SignatureUnchecked SignatureCode = iota
	// SignatureGood is the only verdict that proves anything.
	SignatureGood
	// SignatureMissing: the data is empty.
	SignatureMissing
	// SignatureTooLarge: the data has more than 1 MiB, or more parts than could be honest.
	SignatureTooLarge
	// SignatureMalformed: the data is garbage, cut off, or has something behind it.
	SignatureMalformed
	// SignatureNotOfFile: a message, a key, or a signature of something else than the bytes of a file.
	SignatureNotOfFile
	// SignatureUnsupported: it has a version, an algorithm or a critical part that is not known here.
	SignatureUnsupported
	// SignatureUnknownKey: the keyring does not have the key.
	SignatureUnknownKey
	// SignatureNotPinned: the keyring has the key, but it is not one of the pins.
	SignatureNotPinned
	// SignatureNoCertificate: the signer's certificate is neither in the message nor among the roots.
	SignatureNoCertificate
	// SignatureNoChain: the signer's certificate leads to none of the roots.
	SignatureNoChain
	// SignatureRevoked: the key, or the primary key it hangs on, was revoked.
	SignatureRevoked
	// SignatureKeyExpired: the key has expired, now or already when it signed.
	SignatureKeyExpired
	// SignatureCertificateExpired: a certificate is no longer valid.
	SignatureCertificateExpired
	// SignatureCertificateNotYetValid: a certificate is not valid yet.
	SignatureCertificateNotYetValid
	// SignatureKeyUnfit: the key is not made for signing files, has no valid back-signature, or is younger than the signature.
	SignatureKeyUnfit
	// SignatureExpired: the signature says that it no longer holds.
	SignatureExpired
	// SignatureFuture: the signature is from more than 10 minutes ahead.
	SignatureFuture
	// SignatureWeak: a digest under SHA-256, RSA under 2048 bits, DSA, or a curve other than P-256, P-384 and P-521 in
	// a certificate.
	SignatureWeak
	// SignatureBad: the key did not sign these bytes.
	SignatureBad
	// SignatureLocked: the secret key needs a passphrase, or another one.
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

// String is the verdict in a few words.
func (c SignatureCode) String() string {
	if int(c) >= len(signatureCodes) {
		return "unknown verdict"
	}
	return signatureCodes[c]
}

// A SignatureResult is the verdict on one signature, and what the signature and its key say. Nothing of that is proven
// unless Code is SignatureGood, and Time never is. All of its text is fit for a line. Results can be compared with ==.
type SignatureResult struct {
	Kind   string // Name of its SignatureKind
	Code   SignatureCode
	Reason string    // says more than Code
	Key    string    // fingerprint in hexadecimal digits: of the primary key, or the SHA-256 of the certificate; "" if there is none at hand
	Subkey string    // fingerprint of the OpenPGP subkey that made it; "" if the primary key did
	Signer string    // whom the key names, quoted; if there is no key at hand, how the signature refers to it; "" if neither says anything
	Time   time.Time // when it was made, by its own word; zero if it does not say
	Hash   string    // "SHA-512", "RSA-PSS 3072 with SHA-256"; "" if it is not known
	From   string    // where the signature is: a masked URL, a path; "" if that is not known
	Pinned bool      // the user named the very key
}

// String says who signed: `OpenPGP signature by 0123..., "Alice <alice@example.org>"`.
func (r SignatureResult) String() string {
	s := r.Kind + " signature by " + r.Key
	if r.Signer != "" {
		s += ", " + r.Signer
	}
	return s
}

// GoodSignature is the first good one.
func GoodSignature(all []SignatureResult) (good SignatureResult, ok bool) {
	i := slices.IndexFunc(all, func(r SignatureResult) bool { return r.Code == SignatureGood })
	if i < 0 {
		return SignatureResult{}, false
	}
	return all[i], true
}

// A SignatureChecker reads a file and says at the end which signatures of it are good. Those of packages openpgp and
// smime check one message each. A SignatureChecker belongs to one goroutine.
type SignatureChecker interface {
	// Write takes the next bytes of the file. It never fails.
	io.Writer

	// Signatures judges the bytes taken so far as the whole file. An error means that the file must not be used, whatever
	// digests say. Without an error and without a good signature nothing was validated: there was no key to check with.
	Signatures() ([]SignatureResult, error)
}

// A SignatureError says why a signature does not count, a keyring cannot be used or nothing could be signed.
type SignatureError struct {
	Code       SignatureCode
	Of         string            // "keyring", "secret key"; "" is a signature
	By         string            // fingerprint of the key, or the quoted name of the signer; "" if that is not known
	Reason     string            // says more than Code; what others wrote is fit for a line
	Signatures []SignatureResult // the verdict on each signature, if they could be read
}

// Error is one line: "signature by 0123...: key revoked: on 2026-01-11, no longer used".
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

// JudgeSignatures accepts a file by its signatures: one is good, and none by a key that counts is bad. Otherwise the
// error is a *SignatureError of the verdict that says most of why: a bad signature, then another fault with a trusted
// key, then keys that are not trusted, unknown ones after them, and last what could not be read and names no key. By
// returns how the error names the signer.
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
