package minisign

import (
	"encoding"
	"encoding/json"
	"errors"
	"hash"
	"slices"

	"crypto/ed25519"

	"golang.org/x/crypto/blake2b"

	"braid/internal/mask"
	"braid/verify"
)

// mostWhole is the maximum size in bytes of a file with a signature of the older form, which is kept in memory.
const mostWhole = 16 << 20

// A Checker reads a file in order and judges a signature of it. It is not safe for concurrent use.
type Checker struct {
	signature signature
	said      verify.SignatureResult
	keys      []Key     // keys with the signature's id
	digest    hash.Hash // of the file; nil for the older form
	whole     []byte    // the file, for the older form
	over      bool      // the file has more than mostWhole bytes
}

// New returns a Checker of a file with the given names. The file name in the signature, if any, must be among the
// names; without names any is accepted. New fails, with a *verify.SignatureError, if no file could pass. Without keys
// the signature is parsed but not validated.
func New(data []byte, keys []Key, names []string) (*Checker, error) {
	s, wrong := parse(data)
	if wrong != nil {
		return nil, wrong
	}
	c := &Checker{signature: s, said: s.describe()}
	if len(keys) == 0 {
		return c, nil
	}
	c.keys = slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return k.id != s.id })
	if len(c.keys) == 0 {
		return nil, c.refuse(verify.SignatureUnknownKey, "")
	}
	c.keys = slices.DeleteFunc(c.keys, func(k Key) bool { return !s.covers(k) })
	if len(c.keys) == 0 {
		return nil, c.refuse(verify.SignatureBad, "its trusted comment is not signed by the key")
	}
	if s.algorithm == wholeFile && s.flagged("hashed") {
		return nil, c.refuse(verify.SignatureBad, "its trusted comment says that it is not of the older form")
	}
	if name, ok := s.field("file"); ok && len(names) > 0 && !slices.Contains(names, name) {
		return nil, c.refuse(verify.SignatureBad, "it is a signature of "+mask.Quote(name, 100))
	}
	if s.algorithm == prehashed {
		c.digest, _ = blake2b.New512(nil) // without a key it never fails
	}
	return c, nil
}

// refuse returns an error that rejects the signature for every file.
func (c *Checker) refuse(code verify.SignatureCode, reason string) error {
	c.said.Code, c.said.Reason = code, reason
	return &verify.SignatureError{Code: code, By: c.said.Key, Reason: reason, Signatures: []verify.SignatureResult{c.said}}
}

// Write implements verify.SignatureChecker.
func (c *Checker) Write(p []byte) (int, error) {
	switch {
	case c.digest != nil:
		c.digest.Write(p)
	case len(c.keys) == 0 || c.over:
	case len(c.whole)+len(p) > mostWhole:
		c.whole, c.over = nil, true
	default:
		c.whole = append(c.whole, p...)
	}
	return len(p), nil
}

// Signatures implements verify.SignatureChecker.
func (c *Checker) Signatures() ([]verify.SignatureResult, error) {
	if len(c.keys) == 0 {
		return []verify.SignatureResult{c.said}, nil
	}
	if c.over {
		return nil, c.refuse(verify.SignatureUnsupported,
			"the older form of signature is limited to files of 16 MiB (minisign -S -H signs larger ones)")
	}
	if c.digest == nil && len(c.whole) == blake2b.Size {
		return nil, c.refuse(verify.SignatureUnsupported,
			"it is of the older form, and the file has the size of a BLAKE2b-512, of which it may be a newer one (minisign -S -H makes one of any file)")
	}
	message := c.whole
	if c.digest != nil {
		message = c.digest.Sum(nil)
	}
	if !slices.ContainsFunc(c.keys, func(k Key) bool { return ed25519.Verify(k.public[:], message, c.signature.of[:]) }) {
		return nil, c.refuse(verify.SignatureBad, "")
	}
	c.said.Code = verify.SignatureGood
	return []verify.SignatureResult{c.said}, nil
}

// A state is the encoded state of a Checker.
type state struct {
	Digest []byte `json:"digest,omitempty"`
	Whole  []byte `json:"whole,omitempty"`
	Over   bool   `json:"over,omitempty"`
}

var errState = errors.New("minisign: the state of another check")

// MarshalBinary returns the state of c, for UnmarshalBinary of a Checker of the same signature and keys.
func (c *Checker) MarshalBinary() (data []byte, err error) {
	s := state{Whole: c.whole, Over: c.over}
	if c.digest != nil {
		if s.Digest, err = c.digest.(encoding.BinaryMarshaler).MarshalBinary(); err != nil {
			return nil, err
		}
	}
	return json.Marshal(s)
}

// UnmarshalBinary restores a state into c.
func (c *Checker) UnmarshalBinary(data []byte) error {
	var s state
	if err := json.Unmarshal(data, &s); err != nil || (c.digest != nil) != (s.Digest != nil) || len(s.Whole) > mostWhole {
		return errState
	}
	c.whole, c.over = s.Whole, s.Over
	if c.digest == nil {
		return nil
	}
	return c.digest.(encoding.BinaryUnmarshaler).UnmarshalBinary(s.Digest)
}
