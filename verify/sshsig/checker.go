package sshsig

import (
	"bytes"
	"encoding"
	"hash"
	"time"

	"braid/internal/mask"
	"braid/verify"
)

// A Policy restricts the accepted keys.
type Policy struct {
	Now          time.Time // when a key must be valid
	AllowExpired bool      // accept keys that are no longer valid
}

// A Checker judges a signature of a file that is written to it in order. It is not safe for concurrent use.
type Checker struct {
	signature signature
	said      verify.SignatureResult
	trusted   bool // the key in the signature is accepted
	digest    hash.Hash
}

// New returns a Checker of a file with the signature in data. It fails, with a *verify.SignatureError, if no file could
// pass. Without keys the signature is parsed but not validated.
func New(data []byte, keys []Key, policy Policy) (*Checker, error) {
	s, wrong := parse(data)
	if wrong != nil {
		return nil, wrong
	}
	c := &Checker{signature: s, said: s.result(), digest: hashes[s.hash].make()}
	if len(keys) == 0 {
		return c, nil
	}
	code, reason := verify.SignatureUnknownKey, ""
	for _, k := range keys {
		if !bytes.Equal(k.public.Marshal(), s.key.Marshal()) {
			continue
		}
		if k.signer != "" {
			c.said.Signer = mask.Quote(k.signer, 200)
		}
		if code, reason = k.judge(policy); code == verify.SignatureGood {
			c.trusted = true
			return c, nil
		}
	}
	return nil, c.refuse(code, reason)
}

// judge returns SignatureGood, or why signatures by k are not accepted.
func (k Key) judge(p Policy) (code verify.SignatureCode, reason string) {
	const layout = "2006-01-02 15:04"
	switch {
	case k.elsewhere:
		return verify.SignatureKeyUnfit, "its namespaces do not include " + namespace
	case !k.after.IsZero() && p.Now.Before(k.after):
		return verify.SignatureKeyUnfit, "it is valid from " + k.after.UTC().Format(layout)
	case !k.before.IsZero() && !p.Now.Before(k.before) && !p.AllowExpired:
		return verify.SignatureKeyExpired, "it was valid until " + k.before.UTC().Format(layout)
	}
	return verify.SignatureGood, ""
}

// refuse returns an error with the verdict code on the signature.
func (c *Checker) refuse(code verify.SignatureCode, reason string) error {
	c.said.Code, c.said.Reason = code, reason
	return &verify.SignatureError{Code: code, By: c.said.Key, Reason: reason, Signatures: []verify.SignatureResult{c.said}}
}

// Write implements verify.SignatureChecker.
func (c *Checker) Write(p []byte) (int, error) { return c.digest.Write(p) }

// Signatures implements verify.SignatureChecker.
func (c *Checker) Signatures() ([]verify.SignatureResult, error) {
	switch {
	case !c.trusted:
		return []verify.SignatureResult{c.said}, nil
	case !c.signature.signs(c.digest.Sum(nil)):
		return nil, c.refuse(verify.SignatureBad, "")
	}
	c.said.Code = verify.SignatureGood
	return []verify.SignatureResult{c.said}, nil
}

// MarshalBinary returns the state of c, for UnmarshalBinary of a Checker of the same signature.
func (c *Checker) MarshalBinary() ([]byte, error) {
	return c.digest.(encoding.BinaryMarshaler).MarshalBinary()
}

// UnmarshalBinary restores a state from MarshalBinary into c.
func (c *Checker) UnmarshalBinary(state []byte) error {
	return c.digest.(encoding.BinaryUnmarshaler).UnmarshalBinary(state)
}
