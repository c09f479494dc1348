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

// mostWhole is how many bytes a file may have whose signature is of the older form: all of it is kept in memory.
const mostWhole = 16 << 20

// A Checker takes a file in order and judges a signature about it. It belongs to one goroutine.
type Checker struct {
	signature signature
	said      verify.SignatureResult
	keys      []Key     // those that may have made it
	digest    hash.Hash // of the file; nil for the older form
	whole     []byte    // the file, for the older form
	over      bool      // the file has more than mostWhole bytes
}

// New begins to check a file that has one of names by a signature. Without names any file name in the signature is taken. It
// fails, with a *verify.SignatureError, if no file could pass. Without keys there is no anchor, and nothing is validated.
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
	if name, ok := s.field("file"); ok && len(names) > 0 && !slices.Contains(names, name) {
		return nil, c.refuse(verify.SignatureBad, "it is of the file "+mask.Quote(name, 100))
	}
	if s.algorithm == prehashed {
		c.digest, _ = blake2b.New512(nil) // an error is about a key, and there is none
	}
	return c, nil
}

// refuse returns the error of a signature with which no file could pass.
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
			"it is of the older form, whose files may have 16 MiB at most (minisign -S -H makes one of any file)")
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

// A state is how far a Checker is.
type state struct {
	Digest []byte `json:"digest,omitempty"`
	Whole  []byte `json:"whole,omitempty"`
	Over   bool   `json:"over,omitempty"`
}

var errState = errors.New("minisign: the state of another check")

// MarshalBinary returns how far c is, for UnmarshalBinary of a Checker of the same signature and keys.
func (c *Checker) MarshalBinary() (data []byte, err error) {
	s := state{Whole: c.whole, Over: c.over}
	if c.digest != nil {
		if s.Digest, err = c.digest.(encoding.BinaryMarshaler).MarshalBinary(); err != nil {
			return nil, err
		}
	}
	return json.Marshal(s)
}

// UnmarshalBinary makes c go on where another one was.
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
