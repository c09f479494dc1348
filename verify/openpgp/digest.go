package openpgp

import (
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding"
	"hash"
)

// A digest describes a hash algorithm (RFC 9580, section 9.5).
type digest struct {
	name string
	new  func() hash.Hash // nil if the algorithm is weak
}

// digests has the hash algorithms by identifier. The hashes of the standard library implement [hash.Cloner], so that
// many signatures can share a hash. The library may use other implementations, which cannot be cloned.
var digests = map[byte]digest{
	1:  {"MD5", nil},
	2:  {"SHA-1", nil},
	3:  {"RIPEMD-160", nil},
	8:  {"SHA-256", sha256.New},
	9:  {"SHA-384", sha512.New384},
	10: {"SHA-512", sha512.New},
	11: {"SHA-224", nil},
	12: {"SHA3-256", func() hash.Hash { return sha3.New256() }},
	14: {"SHA3-512", func() hash.Hash { return sha3.New512() }},
}

// clone copies the state of a hash that came from digests.
func clone(h hash.Hash) hash.Hash {
	c, err := h.(hash.Cloner).Clone()
	if err != nil {
		panic("openpgp: a hash of the standard library cannot be copied: " + err.Error())
	}
	return c
}

// marshal returns the state of a hash that came from digests.
func marshal(h hash.Hash) []byte {
	data, err := h.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		panic("openpgp: a hash of the standard library has no state: " + err.Error())
	}
	return data
}
