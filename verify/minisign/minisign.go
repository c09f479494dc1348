// Package minisign checks signatures made by minisign: Ed25519 over the BLAKE2b-512 of a file, or, in the older form,
// over the file itself (https://jedisct1.github.io/minisign/, "Signature format").
//
// The package does not guess. The trusted comment must be signed. If the comment names a file, the signature is valid
// only for that file. Otherwise a server could serve an older file, with its signature, under the name of the newest.
//
//	key, err := minisign.ParseKey(data)
//	checker, err := minisign.New(signature, []minisign.Key{key}, names)
//	io.Copy(checker, file)
//	results, err := checker.Signatures()
package minisign

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"braid/internal/mask"
	"braid/verify"
)

// The lengths of a key and of a signature in bytes, after their base64 is decoded.
const (
	keySize       = 2 + 8 + ed25519.PublicKeySize
	signatureSize = 2 + 8 + ed25519.SignatureSize
)

// The signature algorithms are the first two bytes of a signature; public keys begin with wholeFile. The signature does
// not cover these two bytes. If prehashed is changed to wholeFile, the result is a good signature of the 64 bytes of
// the BLAKE2b-512. Therefore wholeFile is not accepted for a file of 64 bytes.
const (
	wholeFile = "Ed"
	prehashed = "ED"
)

const (
	untrusted = "untrusted comment:"
	trusted   = "trusted comment: "
)

// A Key is a public key. Its id only selects the keys to try: anyone can make a key with a given id.
type Key struct {
	id     [8]byte
	public [ed25519.PublicKeySize]byte
}

// ID returns minisign's name for the key, 16 hexadecimal digits.
func (k Key) ID() string { return idText(k.id) }

// idText formats an id as minisign does: as a little-endian number.
func idText(id [8]byte) string { return fmt.Sprintf("%016X", binary.LittleEndian.Uint64(id[:])) }

// ParseKey parses a public key file that minisign -G wrote, or only its second line.
func ParseKey(data []byte) (Key, error) {
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	comment := strings.TrimSpace(lines[0])
	if len(lines) == 2 && strings.HasPrefix(comment, untrusted) {
		lines = lines[1:]
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSpace(lines[0]))
	switch {
	case strings.Contains(comment, "secret key"):
		return Key{}, fmt.Errorf("this is a secret key, not a public one")
	case len(lines) != 1 || err != nil || len(raw) != keySize || string(raw[:2]) != wholeFile:
		return Key{}, fmt.Errorf("this is not a public key of minisign")
	}
	var k Key
	copy(k.id[:], raw[2:10])
	copy(k.public[:], raw[10:])
	return k, nil
}

type signature struct {
	algorithm string
	id        [8]byte
	of        [ed25519.SignatureSize]byte // signature of the file
	comment   string                      // the trusted comment
	global    [ed25519.SignatureSize]byte // signature of the other signature and the comment
}

// parse parses a signature file. It must have exactly four lines.
func parse(data []byte) (signature, *verify.SignatureError) {
	var s signature
	lines := strings.Split(strings.TrimRight(string(data), "\r\n"), "\n")
	if len(lines) != 4 {
		return s, fail(verify.SignatureMalformed, "it has %d lines, want 4", len(lines))
	}
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(lines[1])
	global, err2 := base64.StdEncoding.Strict().DecodeString(lines[3])
	comment, ok := strings.CutPrefix(lines[2], trusted)
	switch {
	case !strings.HasPrefix(lines[0], untrusted):
		return s, fail(verify.SignatureMalformed, "it does not begin with %q", untrusted)
	case !ok:
		return s, fail(verify.SignatureMalformed, "it has no trusted comment")
	case err != nil || len(raw) != signatureSize:
		return s, fail(verify.SignatureMalformed, "the second line is not a signature")
	case err2 != nil || len(global) != ed25519.SignatureSize:
		return s, fail(verify.SignatureMalformed, "the last line is not a signature of the comment")
	}
	s.algorithm, s.comment = string(raw[:2]), comment
	copy(s.id[:], raw[2:10])
	copy(s.of[:], raw[10:])
	copy(s.global[:], global)
	if s.algorithm != wholeFile && s.algorithm != prehashed {
		return s, fail(verify.SignatureUnsupported, "algorithm %s", mask.Quote(s.algorithm, 8))
	}
	return s, nil
}

// describe returns a result with the details of s and without a verdict.
func (s signature) describe() verify.SignatureResult {
	r := verify.SignatureResult{Kind: kindName, Key: idText(s.id), Hash: "BLAKE2b-512"}
	if s.algorithm == wholeFile {
		r.Hash = "Ed25519"
	}
	if word, ok := s.field("timestamp"); ok {
		const year10000 = 253402300800 // JSON has no such time (RFC 3339, section 1)
		if seconds, err := strconv.ParseInt(word, 10, 64); err == nil && seconds > 0 && seconds < year10000 {
			r.Time = time.Unix(seconds, 0)
		}
	}
	return r
}

// field returns the value of a field, NAME:VALUE, in the trusted comment. Fields are separated by tabs.
func (s signature) field(name string) (value string, ok bool) {
	for part := range strings.SplitSeq(s.comment, "\t") {
		if value, ok = strings.CutPrefix(strings.TrimSpace(part), name+":"); ok {
			return value, true
		}
	}
	return "", false
}

// flagged reports whether the trusted comment has a field called name, without a value.
func (s signature) flagged(name string) bool {
	for part := range strings.SplitSeq(s.comment, "\t") {
		if strings.TrimSpace(part) == name {
			return true
		}
	}
	return false
}

// covers reports whether k signed the trusted comment, together with the signature of the file.
func (s signature) covers(k Key) bool {
	return ed25519.Verify(k.public[:], append(bytes.Clone(s.of[:]), s.comment...), s.global[:])
}

func fail(code verify.SignatureCode, format string, a ...any) *verify.SignatureError {
	return &verify.SignatureError{Code: code, Reason: fmt.Sprintf(format, a...)}
}
