// Package signify checks signatures made by OpenBSD's signify: Ed25519 over the file itself (signify(1)). The file is
// kept in memory until it is complete, so a file of more than 16 MiB is an error.
//
// A signature does not name its file. Signify is therefore used to sign checksum lists, which name their files.
//
//	key, err := signify.ParseKey(data)
//	checker, err := signify.New(signature, []signify.Key{key})
//	io.Copy(checker, file)
//	results, err := checker.Signatures()
package signify

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"braid/internal/mask"
	"braid/internal/whole"
	"braid/verify"
)

// The lengths of a key and of a signature in bytes, after their base64 is decoded.
const (
	keySize       = 2 + 8 + ed25519.PublicKeySize
	signatureSize = 2 + 8 + ed25519.SignatureSize
)

// algorithm is the first two bytes of keys and signatures: "Ed25519 over the file".
const algorithm = "Ed"

const untrusted = "untrusted comment: "

// A Key is a public key. Its id only selects the keys to try: anyone can make a key with a given id.
type Key struct {
	id     [8]byte
	public [ed25519.PublicKeySize]byte
}

// ID returns the id of the key in hexadecimal digits.
func (k Key) ID() string { return hex.EncodeToString(k.id[:]) }

// ParseKey parses a public key file that signify -G wrote.
func ParseKey(data []byte) (Key, error) {
	comment, raw, rest, ok := split(bytes.TrimSpace(data))
	switch {
	case strings.Contains(comment, "secret key"):
		return Key{}, fmt.Errorf("this is a secret key, not a public one")
	case !ok || len(rest) > 0 || len(raw) != keySize || string(raw[:2]) != algorithm:
		return Key{}, fmt.Errorf("this is not a public key of signify")
	}
	var k Key
	copy(k.id[:], raw[2:10])
	copy(k.public[:], raw[10:])
	return k, nil
}

// split returns the comment in the first line of data, the decoded second line, and the rest of data. In a signed
// message, the rest is the message.
func split(data []byte) (comment string, raw, rest []byte, ok bool) {
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	second, rest, _ := bytes.Cut(rest, []byte("\n"))
	comment, ok = strings.CutPrefix(strings.TrimSuffix(string(first), "\r"), untrusted)
	raw, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSuffix(string(second), "\r"))
	return comment, raw, rest, ok && err == nil
}

// Split splits a signed message, as signify -S -e writes it. The first two lines are the signature, and the rest is the
// text. Split reports false if data is not a signature that is followed by a text.
func Split(data []byte) (signature, text []byte, ok bool) {
	_, raw, text, ok := split(data)
	ok = ok && len(raw) == signatureSize && bytes.Count(data[:len(data)-len(text)], []byte("\n")) == 2
	return data[:len(data)-len(text)], text, ok
}

// A Checker judges a signature of a file that is written to it in order. It is not safe for concurrent use.
type Checker struct {
	id   [8]byte
	of   [ed25519.SignatureSize]byte
	keys []Key // keys with the signature's id
	file whole.File
}

// New returns a Checker of a file with the signature in data. It ignores a message after the signature, because the
// signature must be of the file. New fails, with a *verify.SignatureError, if no file could pass. Without keys the
// signature is parsed but not validated.
func New(data []byte, keys []Key) (*Checker, error) {
	_, raw, _, ok := split(data)
	switch {
	case !ok || len(raw) != signatureSize:
		return nil, &verify.SignatureError{Code: verify.SignatureMalformed, Reason: "the second line is not a signature"}
	case string(raw[:2]) != algorithm:
		reason := "algorithm " + mask.Quote(string(raw[:2]), 8)
		return nil, &verify.SignatureError{Code: verify.SignatureUnsupported, Reason: reason}
	}
	c := new(Checker)
	copy(c.id[:], raw[2:10])
	copy(c.of[:], raw[10:])
	c.keys = slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return k.id != c.id })
	if len(keys) > 0 && len(c.keys) == 0 {
		return nil, c.refuse(verify.SignatureUnknownKey, "")
	}
	return c, nil
}

func (c *Checker) result(code verify.SignatureCode, reason string) verify.SignatureResult {
	return verify.SignatureResult{Kind: kindName, Key: Key{id: c.id}.ID(), Hash: "Ed25519", Code: code, Reason: reason}
}

func (c *Checker) refuse(code verify.SignatureCode, reason string) error {
	r := c.result(code, reason)
	return &verify.SignatureError{Code: code, By: r.Key, Reason: reason, Signatures: []verify.SignatureResult{r}}
}

// Whole returns the copy of the file that c keeps in memory, or nil if c keeps none. It serves other packages of braid.
func (c *Checker) Whole() any {
	if len(c.keys) == 0 {
		return nil
	}
	return &c.file
}

// CheckSize returns an error if a file of size bytes is too large for the signature. It serves other packages of braid.
func (c *Checker) CheckSize(size int64) error {
	if c.Whole() == nil || size <= whole.Most {
		return nil
	}
	return c.refuse(verify.SignatureUnsupported,
		"signatures of signify are limited to files of 16 MiB; the publisher can sign a list of digests instead")
}

// Write implements verify.SignatureChecker.
func (c *Checker) Write(p []byte) (int, error) {
	if len(c.keys) > 0 {
		c.file.Write(p)
	}
	return len(p), nil
}

// Signatures implements verify.SignatureChecker.
func (c *Checker) Signatures() ([]verify.SignatureResult, error) {
	if len(c.keys) == 0 {
		return []verify.SignatureResult{c.result(verify.SignatureUnchecked, "")}, nil
	}
	file, ok := c.file.Bytes()
	if !ok {
		return nil, c.CheckSize(whole.Most + 1)
	}
	if !slices.ContainsFunc(c.keys, func(k Key) bool { return ed25519.Verify(k.public[:], file, c.of[:]) }) {
		return nil, c.refuse(verify.SignatureBad, "")
	}
	return []verify.SignatureResult{c.result(verify.SignatureGood, "")}, nil
}

// MarshalBinary returns the state of c, for UnmarshalBinary of a Checker of the same signature and keys.
func (c *Checker) MarshalBinary() ([]byte, error) { return c.file.MarshalBinary() }

// UnmarshalBinary restores a state from MarshalBinary into c.
func (c *Checker) UnmarshalBinary(state []byte) error { return c.file.UnmarshalBinary(state) }
