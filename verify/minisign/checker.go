package minisign

import (
	"crypto/ed25519"
	"encoding"
	"hash"
	"slices"

	"golang.org/x/crypto/blake2b"

	"braid/internal/mask"
	"braid/internal/whole"
	"braid/verify"
)

// A Checker judges a signature of a file that is written to it in order. It is not safe for concurrent use.
type Checker struct {
	signature signature
	said      verify.SignatureResult
	keys      []Key      // keys with the signature's id that signed its comment
	digest    hash.Hash  // of the file; nil in the older form
	file      whole.File // the content, in the older form
}

// New returns a Checker of a file. If the signature names a file, that name must be in names. If names is empty, any
// name is accepted. New fails, with a *verify.SignatureError, if no file could pass. Without keys the signature is
// parsed but not validated.
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
		return nil, c.refuse(verify.SignatureBad, "its trusted comment contradicts its older format")
	}
	if name, ok := s.field("file"); ok && len(names) > 0 && !slices.Contains(names, name) {
		return nil, c.refuse(verify.SignatureBad, "according to its trusted comment, it is a signature of "+mask.Quote(name, 100))
	}
	if s.algorithm == prehashed {
		c.digest, _ = blake2b.New512(nil) // fails only with a key
	}
	return c, nil
}

// refuse returns an error with the verdict code on the signature.
func (c *Checker) refuse(code verify.SignatureCode, reason string) error {
	c.said.Code, c.said.Reason = code, reason
	return &verify.SignatureError{Code: code, By: c.said.Key, Reason: reason, Signatures: []verify.SignatureResult{c.said}}
}

// Whole returns the copy of the file that c keeps in memory, or nil if c keeps none. It serves other packages of braid.
func (c *Checker) Whole() any {
	if c.digest != nil || len(c.keys) == 0 {
		return nil
	}
	return &c.file
}

// CheckSize returns an error if a file of size bytes is too large for the signature. It serves other packages of braid.
func (c *Checker) CheckSize(size int64) error {
	if c.Whole() == nil || size <= whole.Most {
		return nil
	}
	return c.refuse(verify.SignatureUnsupported, "the older format of signatures is limited to files of 16 MiB; the publisher "+
		"can sign the file in the newer format (minisign -S -H), or a list of digests")
}

// Write implements verify.SignatureChecker.
func (c *Checker) Write(p []byte) (int, error) {
	switch {
	case c.digest != nil:
		c.digest.Write(p)
	case len(c.keys) > 0:
		c.file.Write(p)
	}
	return len(p), nil
}

// Signatures implements verify.SignatureChecker.
func (c *Checker) Signatures() ([]verify.SignatureResult, error) {
	if len(c.keys) == 0 {
		return []verify.SignatureResult{c.said}, nil
	}
	message, ok := c.file.Bytes()
	if !ok {
		return nil, c.CheckSize(whole.Most + 1)
	}
	if c.digest == nil && len(message) == blake2b.Size {
		return nil, c.refuse(verify.SignatureUnsupported,
			"it is in the older format, and the file has 64 bytes, as many as a BLAKE2b-512 digest: this may be a "+
				"signature in the newer format of another file (minisign -S -H signs any file)")
	}
	if c.digest != nil {
		message = c.digest.Sum(nil)
	}
	if !slices.ContainsFunc(c.keys, func(k Key) bool { return ed25519.Verify(k.public[:], message, c.signature.of[:]) }) {
		return nil, c.refuse(verify.SignatureBad, "")
	}
	c.said.Code = verify.SignatureGood
	return []verify.SignatureResult{c.said}, nil
}

// MarshalBinary returns the state of c, for UnmarshalBinary of a Checker of the same signature and keys.
func (c *Checker) MarshalBinary() ([]byte, error) {
	if c.digest != nil {
		return c.digest.(encoding.BinaryMarshaler).MarshalBinary()
	}
	return c.file.MarshalBinary()
}

// UnmarshalBinary restores a state from MarshalBinary into c.
func (c *Checker) UnmarshalBinary(state []byte) error {
	if c.digest != nil {
		return c.digest.(encoding.BinaryUnmarshaler).UnmarshalBinary(state)
	}
	return c.file.UnmarshalBinary(state)
}
