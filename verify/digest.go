// Package verify decides whether bytes are the right bytes. It knows the digests that servers and users
// name (RFC 3230, RFC 9530, RFC 6249 section 6), hashes a file in order and gives a [Proof], the only
// thing that entitles a file to its final name.
//
// It refuses to be an opinion: a digest that cannot be read is an error and never the same as none, two
// digests that contradict each other are an error and never a choice, and an MD5 or SHA-1 that holds is
// said to prove nothing. It does no input or output of its own and knows nothing of mirrors or ranges.
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

// An Algorithm is a hash function that digests are made with. A greater one is stronger. The zero value
// is no algorithm.
type Algorithm uint8

// The algorithms of the registries of RFC 3230 and RFC 9530 that are cryptographic hashes. Another one takes its place
// by strength here and in the table below, and nowhere else.
const (
	MD5 Algorithm = iota + 1
	SHA1
	SHA256
	SHA512
)

// algorithms has what there is to know of each Algorithm.
var algorithms = [...]struct {
	name     string // in messages
	other    string // names that are the same algorithm in header fields, documents and words of the user
	instance string // in Digest, RFC 3230 section 4.1.1 and RFC 5843
	repr     string // in Repr-Digest, RFC 9530 section 7.2
	strong   bool
	want     int // preference in Want-Repr-Digest, RFC 9530 section 4; 0 if servers are not asked for it
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

// ParseAlgorithm finds the algorithm that header fields, Metalink documents or users call name, in any
// case: sha, sha1 and sha-1 are one algorithm.
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

// String is the name as in messages: md5, sha-1, sha-256, sha-512.
func (a Algorithm) String() string {
	if !a.known() {
		return "no algorithm"
	}
	return algorithms[a].name
}

// Size is the length of a digest in bytes.
func (a Algorithm) Size() int {
	if !a.known() {
		return 0
	}
	return algorithms[a].size
}

// Strong says that nobody can make two files with one digest: SHA-256 and better. The others do not
// satisfy RFC 6249, section 6.
func (a Algorithm) Strong() bool { return a.known() && algorithms[a].strong }

// New starts a hash. It panics if a is no algorithm.
func (a Algorithm) New() hash.Hash { return algorithms[a].new() }

// A Digest is what an algorithm makes of a whole file. Digests can be compared with ==. The zero value is
// no digest; others come from the functions of this package only and have the right length.
type Digest struct {
	alg Algorithm
	raw string
}

// NewDigest makes a digest of raw bytes.
func NewDigest(a Algorithm, raw []byte) (Digest, error) {
	if !a.known() {
		return Digest{}, fmt.Errorf("digest of an unknown algorithm")
	}
	if len(raw) != a.Size() {
		return Digest{}, fmt.Errorf("%v has %d bytes, want %d", a, len(raw), a.Size())
	}
	return Digest{a, string(raw)}, nil
}

// ParseHex makes a digest of hexadecimal text in either case.
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

// Algorithm is how d was made.
func (d Digest) Algorithm() Algorithm { return d.alg }

// Bytes is the raw digest.
func (d Digest) Bytes() []byte { return []byte(d.raw) }

// Hex is the digest in lower-case hexadecimal digits.
func (d Digest) Hex() string { return hex.EncodeToString([]byte(d.raw)) }

// Base64 is the raw digest in base64 with padding (RFC 4648, section 4).
func (d Digest) Base64() string { return base64.StdEncoding.EncodeToString([]byte(d.raw)) }

// IsZero says that there is no digest.
func (d Digest) IsZero() bool { return d == Digest{} }

// String is the algorithm and the hexadecimal digits: sha-256=e3b0c442...
func (d Digest) String() string {
	if d.IsZero() {
		return "no digest"
	}
	return d.alg.String() + "=" + d.Hex()
}
