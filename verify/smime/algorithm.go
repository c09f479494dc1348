package smime

import (
	"braid/verify"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	_ "crypto/sha256" // for crypto.SHA256
	_ "crypto/sha512" // for crypto.SHA384 and crypto.SHA512
	"fmt"
)

// The accepted lengths of RSA keys in bits. A verification with a key of the longest accepted length takes about a
// millisecond. With a key as long as a message, it would take a minute.
const (
	minRSA = 2048
	maxRSA = 8192
)

// A digest is a hash function, or the name of a weak hash function.
type digest struct {
	name string
	hash crypto.Hash // 0 if weak
}

var digests = map[oid]digest{
	"\x60\x86\x48\x01\x65\x03\x04\x02\x01": {"SHA-256", crypto.SHA256}, // RFC 5754, section 2
	"\x60\x86\x48\x01\x65\x03\x04\x02\x02": {"SHA-384", crypto.SHA384},
	"\x60\x86\x48\x01\x65\x03\x04\x02\x03": {"SHA-512", crypto.SHA512},
	"\x60\x86\x48\x01\x65\x03\x04\x02\x04": {"SHA-224", 0},
	"\x2b\x0e\x03\x02\x1a":                 {"SHA-1", 0},
	"\x2a\x86\x48\x86\xf7\x0d\x02\x05":     {"MD5", 0},
}

type scheme uint8

const (
	pkcs1 scheme = iota // RSASSA-PKCS1-v1_5
	pss                 // RSASSA-PSS
	ecdsaScheme
	ed25519Scheme
)

var schemeNames = [...]string{pkcs1: "RSA", pss: "RSA-PSS", ecdsaScheme: "ECDSA", ed25519Scheme: "Ed25519"}

const (
	rsaPSS oid = "\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a"
	mgf1   oid = "\x2a\x86\x48\x86\xf7\x0d\x01\x01\x08"
)

// signatureAlgorithms are the accepted signature algorithms. hash is the hash in the algorithm's name, which must be
// the signer's digest. If hash is 0, any digest is allowed.
var signatureAlgorithms = map[oid]struct {
	scheme scheme
	hash   crypto.Hash
}{
	"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01": {pkcs1, 0}, // RFC 3370, section 3.2
	"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b": {pkcs1, crypto.SHA256},
	"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0c": {pkcs1, crypto.SHA384},
	"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0d": {pkcs1, crypto.SHA512},
	rsaPSS:                                 {pss, 0},                     // RFC 4056
	"\x2a\x86\x48\xce\x3d\x04\x03\x02":     {ecdsaScheme, crypto.SHA256}, // RFC 5754, section 3.3
	"\x2a\x86\x48\xce\x3d\x04\x03\x03":     {ecdsaScheme, crypto.SHA384},
	"\x2a\x86\x48\xce\x3d\x04\x03\x04":     {ecdsaScheme, crypto.SHA512},
	"\x2b\x65\x70":                         {ed25519Scheme, crypto.SHA512}, // RFC 8419, section 3.1: with SHA-512
}

// A method is a signature scheme with its hash and parameters.
type method struct {
	digest
	scheme scheme
	salt   int // length of the salt, for pss
}

// method returns the method of s, or a fault if the method is not accepted.
func (s signerInfo) method() (method, *verify.SignatureError) {
	d, known := digests[s.digest.id]
	switch {
	case known && d.hash == 0:
		return method{}, fail(verify.SignatureWeak, "its digest is %s", d.name)
	case !known || s.digest.parameters != nil:
		return method{}, fail(verify.SignatureUnsupported, "its digest algorithm is %v", s.digest.id)
	}
	alg, known := signatureAlgorithms[s.signature.id]
	m := method{digest: d, scheme: alg.scheme}
	switch {
	case !known:
		return method{}, fail(verify.SignatureUnsupported, "its signature algorithm is %v", s.signature.id)
	case alg.hash != 0 && alg.hash != d.hash:
		return method{}, fail(verify.SignatureUnsupported, "its digest is %s, but its signature algorithm is %v",
			d.name, s.signature.id)
	case alg.scheme == pss:
		err := m.readPSS(s.signature.parameters)
		return m, err
	case s.signature.parameters != nil:
		return method{}, fail(verify.SignatureUnsupported, "its signature algorithm is %v with parameters", s.signature.id)
	}
	return m, nil
}

// readPSS parses RSASSA-PSS-params (RFC 4055, section 3.1). Missing hashes default to SHA-1, so hash and mask must be
// present. The hashes of both must be the signer's digest (RFC 4056, section 3). The salt must have the stated length.
func (m *method) readPSS(parameters []byte) *verify.SignatureError {
	r := newReader(parameters).into(tagSequence, "PSS parameters")
	hash, hashThere := r.optional(tagContext0, "hash of PSS")
	mask, maskThere := r.optional(tagContext0+1, "mask of PSS")
	salt, saltThere := r.optional(tagContext0+2, "salt of PSS")
	if trailer, ok := r.optional(tagContext0+3, "trailer of PSS"); ok && r.open(trailer).small("trailer of PSS") != 1 {
		r.fail(verify.SignatureUnsupported, "its PSS parameters have an unknown trailer")
	}
	r.end("PSS parameters")
	if r.err() == nil && (!hashThere || !maskThere) {
		r.fail(verify.SignatureWeak, "its PSS parameters name SHA-1")
	}
	generator := r.open(mask).into(tagSequence, "mask generation")
	if generator.oid("mask generation") != mgf1 {
		r.fail(verify.SignatureUnsupported, "its PSS parameters have an unknown mask generation function")
	}
	for _, a := range []algorithm{r.open(hash).algorithm("hash of PSS"), generator.algorithm("hash of the mask")} {
		if digests[a.id].hash != m.hash || a.parameters != nil {
			r.fail(verify.SignatureUnsupported, "its PSS parameters name another hash than its digest")
		}
	}
	m.salt = 20
	if saltThere {
		m.salt = r.open(salt).small("salt of PSS")
	}
	if m.salt == 0 { // package rsa would take a salt of any length
		r.fail(verify.SignatureUnsupported, "its PSS parameters have no salt")
	}
	return r.err()
}

// strength returns a fault if a key is too weak for its signatures to be accepted.
func strength(key crypto.PublicKey) *verify.SignatureError {
	switch k := key.(type) {
	case *rsa.PublicKey:
		switch bits := k.N.BitLen(); {
		case bits < minRSA:
			return fail(verify.SignatureWeak, "its RSA key has %d bits", bits)
		case bits > maxRSA:
			return fail(verify.SignatureUnsupported, "its RSA key has %d bits", bits)
		}
	case *ecdsa.PublicKey:
		switch k.Curve {
		case elliptic.P256(), elliptic.P384(), elliptic.P521():
		default:
			return fail(verify.SignatureWeak, "its key is on the curve %s", k.Params().Name)
		}
	case ed25519.PublicKey:
	default:
		return fail(verify.SignatureUnsupported, "an unknown kind of key")
	}
	return nil
}

// verify reports whether value is key's signature of the bytes signed.
func (m method) verify(key crypto.PublicKey, signed, value []byte) bool {
	h := m.hash.New()
	h.Write(signed)
	sum := h.Sum(nil)
	switch k := key.(type) {
	case *rsa.PublicKey:
		if m.scheme == pss {
			return rsa.VerifyPSS(k, m.hash, sum, value, &rsa.PSSOptions{SaltLength: m.salt}) == nil
		}
		return m.scheme == pkcs1 && rsa.VerifyPKCS1v15(k, m.hash, sum, value) == nil
	case *ecdsa.PublicKey:
		return m.scheme == ecdsaScheme && ecdsa.VerifyASN1(k, sum, value)
	case ed25519.PublicKey:
		return m.scheme == ed25519Scheme && ed25519.Verify(k, signed, value)
	}
	return false
}

// describe returns the scheme, key and hash: "RSA-PSS 3072 with SHA-256".
func (m method) describe(key crypto.PublicKey) string {
	name := schemeNames[m.scheme]
	switch k := key.(type) {
	case *rsa.PublicKey:
		name += fmt.Sprintf(" %d", k.N.BitLen())
	case *ecdsa.PublicKey:
		name += " " + k.Params().Name
	}
	return name + " with " + m.name
}
