// Package verify decides whether a file has the right content. It parses the digests that servers and users give (RFC
// 3230, RFC 9530, RFC 6249 section 6), hashes the file in order and returns a [Proof]. Without a Proof, a file does not
// get its final name.
//
// The package does not guess. A malformed digest is an error and is never treated as absent. Two digests that
// contradict each other are an error. A matching MD5 or SHA-1 is reported, but proves nothing. The package does no
// input or output and does not know mirrors or ranges.
//
//	claims, err := verify.FromHeader(resp.Header, verify.HTTPS)
//	...
//	c := verify.NewChecker(resp.ContentLength, claims)
//	_, err = io.Copy(io.MultiWriter(part, c), resp.Body)
//	...
//	proof, err := c.Proof() // no error: the size and every digest are right
//	fmt.Println(proof)      // sha-256 from Digest over https
package verify

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strings"
)

// An Algorithm is a hash function for digests. A greater Algorithm is stronger. The zero value is not an algorithm.
type Algorithm uint8

// The supported cryptographic hashes from the registries of RFC 3230 and RFC 9530, the weakest first. A new hash also
// needs a row in the table below.
const (
	MD5 Algorithm = iota + 1
	SHA1
	SHA256
	SHA512
)

// algorithms describes each Algorithm.
var algorithms = [...]struct {
	name     string // in messages
	other    string // other names in header fields, documents and options
	instance string // in Digest, RFC 3230 section 4.1.1 and RFC 5843
	repr     string // in Repr-Digest, RFC 9530 section 7.2
	strong   bool
	want     int // preference in Want-Repr-Digest, RFC 9530 section 4; 0 if not requested
	size     int // bytes
	new      func() hash.Hash
}{
	MD5:    {"md5", "", "MD5", "md5", false, 0, md5.Size, md5.New},
	SHA1:   {"sha-1", "sha sha1", "SHA", "sha", false, 0, sha1.Size, sha1.New},
	SHA256: {"sha-256", "sha256", "SHA-256", "sha-256", true, 10, sha256.Size, sha256.New},
	SHA512: {"sha-512", "sha512", "SHA-512", "sha-512", true, 8, sha512.Size, sha512.New},
}

// Algorithms returns all algorithms, the weakest first.
func Algorithms() []Algorithm {
	all := make([]Algorithm, len(algorithms)-1)
	for i := range all {
		all[i] = Algorithm(i + 1)
	}
	return all
}

// ParseAlgorithm returns the algorithm called name in a header field, a Metalink document or an option. Case is
// ignored, and sha, sha1 and sha-1 are one algorithm.
func ParseAlgorithm(name string) (Algorithm, bool) {
	name = strings.ToLower(name)
	for a := MD5; a.known(); a++ {
		if row := &algorithms[a]; name == row.name || slices.Contains(strings.Fields(row.other), name) {
			return a, true
		}
	}
	return 0, false
}

func (a Algorithm) known() bool { return a > 0 && int(a) < len(algorithms) }

// String returns the name for messages: md5, sha-1, sha-256, sha-512.
func (a Algorithm) String() string {
	if !a.known() {
		return "no algorithm"
	}
	return algorithms[a].name
}

// Size returns the length in bytes of a digest of algorithm a. It returns 0 if a is not an algorithm.
func (a Algorithm) Size() int {
	if !a.known() {
		return 0
	}
	return algorithms[a].size
}

// Strong reports whether a resists collisions: SHA-256 and better. Other algorithms do not satisfy RFC 6249, section 6.
func (a Algorithm) Strong() bool { return a.known() && algorithms[a].strong }

// New returns a new hash. It panics if a is not an algorithm.
func (a Algorithm) New() hash.Hash { return algorithms[a].new() }

// A Digest is the digest of a file or of a piece. Digests can be compared with ==. The zero value is no digest. Other
// values come only from the functions of this package and have the length of their algorithm.
type Digest struct {
	alg Algorithm
	raw string
}

// NewDigest returns the digest of algorithm a with the bytes raw. A wrong length is an error.
func NewDigest(a Algorithm, raw []byte) (Digest, error) {
	if !a.known() {
		return Digest{}, fmt.Errorf("digest of an unknown algorithm")
	}
	if len(raw) != a.Size() {
		return Digest{}, fmt.Errorf("%v has %d bytes, want %d", a, len(raw), a.Size())
	}
	return Digest{a, string(raw)}, nil
}

// ParseHex returns the digest of algorithm a with the hexadecimal digits s, in either case.
func ParseHex(a Algorithm, s string) (Digest, error) {
	if want := 2 * a.Size(); a.known() && len(s) != want {
		return Digest{}, fmt.Errorf("%v has %d characters, want %d hexadecimal digits", a, len(s), want)
	}
	raw, err := hex.DecodeString(s)
	if err != nil {
		return Digest{}, fmt.Errorf("%v is not hexadecimal", a)
	}
	return NewDigest(a, raw)
}

// Algorithm returns the algorithm of d.
func (d Digest) Algorithm() Algorithm { return d.alg }

// Bytes returns the raw digest.
func (d Digest) Bytes() []byte { return []byte(d.raw) }

// Hex returns the digest in lower-case hexadecimal digits.
func (d Digest) Hex() string { return hex.EncodeToString([]byte(d.raw)) }

// Base64 returns the raw digest in base64 with padding (RFC 4648, section 4).
func (d Digest) Base64() string { return base64.StdEncoding.EncodeToString([]byte(d.raw)) }

// IsZero reports whether d is the zero value.
func (d Digest) IsZero() bool { return d == Digest{} }

// String returns the algorithm and the hexadecimal digits: sha-256=e3b0c442...
func (d Digest) String() string {
	if d.IsZero() {
		return "no digest"
	}
	return d.alg.String() + "=" + d.Hex()
}
