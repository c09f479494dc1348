package smime

import (
	"braid/verify"
	"bytes"
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// A guard is a row: what is done to a good message about the file, and what must come of it.
type guard struct {
	name string
	kind string // of the signer's key; "" is ECDSA
	do   func(w *workshop, d *draft, s *draftSigner)
	want verify.SignatureCode
	says string // in the result or the error
}

// withPSS makes s sign with PSS and the parameters.
func withPSS(s *draftSigner, salt int, parameters ...[]byte) {
	s.signature = sequence(rsaPSS.der(), sequence(parameters...))
	s.hash = &rsa.PSSOptions{Hash: crypto.SHA256, SaltLength: salt}
}

var (
	pssHash = tlv(tagContext0, sequence(sha256ID.der(), tlv(tagNull)))
	pssMask = tlv(tagContext0+1, sequence(mgf1.der(), sequence(sha256ID.der())))
)

func pssSalt(n byte) []byte    { return tlv(tagContext0+2, integer(n)) }
func pssTrailer(n byte) []byte { return tlv(tagContext0+3, integer(n)) }

// Each row but the first few is a message that is good but for one thing, with a signature that is valid in every other way.
var guards = []guard{
	{name: "49 ECDSA", want: verify.SignatureGood},
	{name: "49 RSA", kind: "rsa", want: verify.SignatureGood},
	{name: "49 Ed25519 (RFC 8419)", kind: "ed25519", want: verify.SignatureGood, says: "Ed25519 with SHA-512"},
	{name: "49 RSA, the algorithm names the hash", kind: "rsa", want: verify.SignatureGood,
		do: func(w *workshop, d *draft, s *draftSigner) { s.signature = sequence(rsaSHA256ID.der(), tlv(tagNull)) }},
	{name: "49 PSS", kind: "rsa", want: verify.SignatureGood,
		do: func(w *workshop, d *draft, s *draftSigner) {
			withPSS(s, 32, pssHash, pssMask, pssSalt(32), pssTrailer(1))
		}},
	{name: "49 PSS, salt of 20 bytes if it is not said", kind: "rsa", want: verify.SignatureGood,
		do: func(w *workshop, d *draft, s *draftSigner) { withPSS(s, 20, pssHash, pssMask) }},
	{name: "49 unsigned attributes, revocation lists and other certificates are passed over", want: verify.SignatureGood,
		do: func(w *workshop, d *draft, s *draftSigner) {
			s.unsigned = tlv(tagContext0+1, attribute(idSigningTime))
			d.revoked = tlv(tagContext0+1, sequence(integer(1)))
			d.certs = append([][]byte{tlv(tagContext0+1, integer(1)), sequence(integer(1))}, d.certs...)
		}},
	{name: "49 unknown signed attributes are passed over", want: verify.SignatureGood,
		do: func(w *workshop, d *draft, s *draftSigner) {
			s.attributes = append(s.attributes, attribute(ed25519ID), attribute(ed25519ID, integer(1), integer(2)))
		}},
	{name: "49 a signing time that cannot be read is none", want: verify.SignatureGood,
		do: func(w *workshop, d *draft, s *draftSigner) {
			s.attributes = append(s.attributes, attribute(idSigningTime, integer(1)))
		}},

	// RFC 5652, sections 5.3, 11.1 and 11.2.
	{name: "49 no signed attributes", want: verify.SignatureNotOfFile,
		do: func(w *workshop, d *draft, s *draftSigner) { s.attributes = nil }},
	{name: "49 no contentType", want: verify.SignatureMalformed, says: "lack",
		do: func(w *workshop, d *draft, s *draftSigner) { s.attributes = s.attributes[1:] }},
	{name: "49 contentType of something else", want: verify.SignatureMalformed, says: "contentType is 1.2.840.113549.1.7.2",
		do: func(w *workshop, d *draft, s *draftSigner) {
			s.attributes[0] = attribute(idContentType, idSignedData.der())
		}},
	{name: "49 contentType twice", want: verify.SignatureMalformed, says: "twice",
		do: func(w *workshop, d *draft, s *draftSigner) { s.attributes = append(s.attributes, s.attributes[0]) }},
	{name: "49 contentType with two values", want: verify.SignatureMalformed,
		do: func(w *workshop, d *draft, s *draftSigner) {
			s.attributes[0] = attribute(idContentType, idData.der(), idData.der())
		}},
	{name: "49 content of another type, and contentType with it", want: verify.SignatureNotOfFile,
		do: func(w *workshop, d *draft, s *draftSigner) {
			d.contentType = idSignedData
			s.attributes[0] = attribute(idContentType, idSignedData.der())
		}},
	{name: "49 no messageDigest", want: verify.SignatureMalformed, says: "lack",
		do: func(w *workshop, d *draft, s *draftSigner) { s.attributes = s.attributes[:1] }},
	{name: "49 messageDigest twice", want: verify.SignatureMalformed, says: "twice",
		do: func(w *workshop, d *draft, s *draftSigner) { s.attributes = append(s.attributes, s.digestOf("other")) }},
	{name: "49 messageDigest twice, the right one last", want: verify.SignatureMalformed, says: "twice",
		do: func(w *workshop, d *draft, s *draftSigner) {
			s.attributes = [][]byte{s.attributes[0], s.digestOf("other"), s.digestOf(signed)}
		}},
	{name: "49 messageDigest with two values", want: verify.SignatureMalformed,
		do: func(w *workshop, d *draft, s *draftSigner) {
			one := tlv(tagOctetString, sum(crypto.SHA256, signed))
			s.attributes[1] = attribute(idDigest, one, one)
		}},
	{name: "49 messageDigest without a value", want: verify.SignatureMalformed,
		do: func(w *workshop, d *draft, s *draftSigner) { s.attributes[1] = attribute(idDigest) }},
	{name: "49 messageDigest too short", want: verify.SignatureMalformed, says: "31 bytes",
		do: func(w *workshop, d *draft, s *draftSigner) {
			s.attributes[1] = attribute(idDigest, tlv(tagOctetString, sum(crypto.SHA256, signed)[:31]))
		}},
	{name: "49 messageDigest of another hash", want: verify.SignatureMalformed, says: "64 bytes",
		do: func(w *workshop, d *draft, s *draftSigner) {
			s.attributes[1] = attribute(idDigest, tlv(tagOctetString, sum(crypto.SHA512, signed)))
		}},
	{name: "49 signingTime twice", want: verify.SignatureMalformed, says: "twice",
		do: func(w *workshop, d *draft, s *draftSigner) {
			at := attribute(idSigningTime, tlv(0x17, []byte("260101000000Z")))
			s.attributes = append(s.attributes, at, at)
		}},

	// What the signature is about.
	{name: "49 attributes changed", want: verify.SignatureBad, says: "was made by a different key",
		do: func(w *workshop, d *draft, s *draftSigner) {
			s.signs = func(b []byte) []byte { return bytes.Replace(b, []byte{0x31}, []byte{0x30}, 1) }
		}},
	{name: "49 the signature is about the file", want: verify.SignatureBad,
		do: func(w *workshop, d *draft, s *draftSigner) { s.signs = func([]byte) []byte { return []byte(signed) } }},
	{name: "49 another key, ECDSA", want: verify.SignatureBad,
		do: func(w *workshop, d *draft, s *draftSigner) { s.key = newKey(w.t, "ecdsa") }},
	{name: "49 another key, Ed25519", kind: "ed25519", want: verify.SignatureBad,
		do: func(w *workshop, d *draft, s *draftSigner) { s.key = newKey(w.t, "ed25519") }},
	{name: "49 another key, RSA", kind: "rsa", want: verify.SignatureBad,
		do: func(w *workshop, d *draft, s *draftSigner) { s.key = newKey(w.t, "another rsa") }},
	{name: "49 another key, PSS", kind: "rsa", want: verify.SignatureBad,
		do: func(w *workshop, d *draft, s *draftSigner) {
			withPSS(s, 32, pssHash, pssMask, pssSalt(32))
			s.key = newKey(w.t, "another rsa")
		}},
	{name: "49 digest of another file", want: verify.SignatureBad, says: "not a signature of this file",
		do: func(w *workshop, d *draft, s *draftSigner) { s.attributes[1] = s.digestOf("other") }},

	// Algorithms (RFC 5754, RFC 4056, RFC 8419).
	{name: "49 digest and signature algorithm disagree, RSA", kind: "rsa", want: verify.SignatureUnsupported,
		do: func(w *workshop, d *draft, s *draftSigner) { s.signature = sequence(rsaSHA512ID.der(), tlv(tagNull)) }},
	{name: "49 digest and signature algorithm disagree, ECDSA", want: verify.SignatureUnsupported,
		do: func(w *workshop, d *draft, s *draftSigner) { s.signature = sequence(ecdsaSHA384ID.der()) }},
	{name: "49 Ed25519 with SHA-256", kind: "ed25519", want: verify.SignatureUnsupported,
		do: func(w *workshop, d *draft, s *draftSigner) {
			s.digest = sequence(sha256ID.der())
			s.attributes[1] = attribute(idDigest, tlv(tagOctetString, sum(crypto.SHA256, signed)))
		}},
	{name: "49 algorithm of another kind of key", want: verify.SignatureBad,
		do: func(w *workshop, d *draft, s *draftSigner) { s.signature = sequence(rsaID.der(), tlv(tagNull)) }},
	{name: "49 algorithm of another kind of key, RSA", kind: "rsa", want: verify.SignatureBad,
		do: func(w *workshop, d *draft, s *draftSigner) { s.signature = sequence(ecdsaSHA256ID.der()) }},
	{name: "49 PSS said, PKCS #1 signed", kind: "rsa", want: verify.SignatureBad,
		do: func(w *workshop, d *draft, s *draftSigner) {
			s.signature = sequence(rsaPSS.der(), sequence(pssHash, pssMask, pssSalt(32)))
		}},
	{name: "49 PKCS #1 said, PSS signed", kind: "rsa", want: verify.SignatureBad,
		do: func(w *workshop, d *draft, s *draftSigner) {
			s.hash = &rsa.PSSOptions{Hash: crypto.SHA256, SaltLength: 32}
		}},
	{name: "49 PSS, another salt than is said", kind: "rsa", want: verify.SignatureBad,
		do: func(w *workshop, d *draft, s *draftSigner) { withPSS(s, 20, pssHash, pssMask, pssSalt(32)) }},
	{name: "49 PSS, negative salt", kind: "rsa", want: verify.SignatureMalformed,
		do: func(w *workshop, d *draft, s *draftSigner) { withPSS(s, 32, pssHash, pssMask, pssSalt(0xff)) }},
	{name: "49 PSS, another trailer", kind: "rsa", want: verify.SignatureUnsupported, says: "trailer",
		do: func(w *workshop, d *draft, s *draftSigner) {
			withPSS(s, 32, pssHash, pssMask, pssSalt(32), pssTrailer(2))
		}},
	{name: "49 PSS, another mask generation", kind: "rsa", want: verify.SignatureUnsupported, says: "mask",
		do: func(w *workshop, d *draft, s *draftSigner) {
			withPSS(s, 32, pssHash, tlv(tagContext0+1, sequence(rsaID.der(), sequence(sha256ID.der()))), pssSalt(32))
		}},
	{name: "49 PSS, another hash than the digest", kind: "rsa", want: verify.SignatureUnsupported,
		do: func(w *workshop, d *draft, s *draftSigner) {
			mask := tlv(tagContext0+1, sequence(mgf1.der(), sequence(sha384ID.der())))
			withPSS(s, 32, tlv(tagContext0, sequence(sha384ID.der())), mask, pssSalt(32))
			s.hash = &rsa.PSSOptions{Hash: crypto.SHA384, SaltLength: 32}
			s.attributes[1] = attribute(idDigest, tlv(tagOctetString, sum(crypto.SHA256, signed)))
		}},
	{name: "49 PSS without parameters", kind: "rsa", want: verify.SignatureMalformed,
		do: func(w *workshop, d *draft, s *draftSigner) {
			withPSS(s, 20)
			s.signature = sequence(rsaPSS.der())
		}},
	{name: "49 an unknown signature algorithm", want: verify.SignatureUnsupported, says: "1.2.840.113549.1.9.5",
		do: func(w *workshop, d *draft, s *draftSigner) { s.signature = sequence(idSigningTime.der()) }},
	{name: "49 parameters of a digest", want: verify.SignatureUnsupported,
		do: func(w *workshop, d *draft, s *draftSigner) { s.digest = sequence(sha256ID.der(), integer(1)) }},
	{name: "49 parameters of a signature", want: verify.SignatureUnsupported,
		do: func(w *workshop, d *draft, s *draftSigner) {
			s.signature = sequence(ecdsaSHA256ID.der(), integer(1))
		}},

	// Opaque messages: the content is the file, byte for byte.
	{name: "49 opaque", want: verify.SignatureGood,
		do: func(w *workshop, d *draft, s *draftSigner) { d.content = []byte(signed) }},
	{name: "49 opaque, other content with the digest of the file", want: verify.SignatureBad, says: "contains another file",
		do: func(w *workshop, d *draft, s *draftSigner) { d.content = []byte("other!") }},
	{name: "49 opaque, content that is longer", want: verify.SignatureBad, says: "contains another file",
		do: func(w *workshop, d *draft, s *draftSigner) { d.content = []byte(signed + "!") }},
	{name: "49 opaque, content that is shorter", want: verify.SignatureBad, says: "contains another file",
		do: func(w *workshop, d *draft, s *draftSigner) { d.content = []byte(signed[:3]) }},
	{name: "49 opaque, and empty", want: verify.SignatureBad, says: "contains another file",
		do: func(w *workshop, d *draft, s *draftSigner) { d.content = []byte{} }},

	// Who signed.
	{name: "49 by key identifier, and there are none", want: verify.SignatureNoCertificate,
		do: func(w *workshop, d *draft, s *draftSigner) { s.sid = tlv(tagImplicit0) }},
	{name: "49 another serial number", want: verify.SignatureNoCertificate, says: `"serial number 63 of CN=root"`,
		do: func(w *workshop, d *draft, s *draftSigner) { s.sid = sequence(s.cert.RawIssuer, integer(99)) }},
	{name: "49 another issuer", want: verify.SignatureNoCertificate,
		do: func(w *workshop, d *draft, s *draftSigner) { s.sid = sequence(s.cert.RawSubject, integer(2)) }},
	{name: "49 certificates that are not X.509 are none", want: verify.SignatureNoCertificate,
		says: "neither in the message nor among the roots",
		do:   func(w *workshop, d *draft, s *draftSigner) { d.certs = [][]byte{tlv(tagContext0+1, integer(1))} }},
	{name: "49 the fitting certificate has another key", want: verify.SignatureBad,
		do: func(w *workshop, d *draft, s *draftSigner) {
			template := w.template("forged")
			template.SerialNumber = s.cert.SerialNumber
			d.certs = [][]byte{w.issue(template, w.root, newKey(w.t, "ecdsa").Public()).Raw, s.cert.Raw}
		}},
	{name: "49 an RSA key that takes long", want: verify.SignatureUnsupported, says: "16384 bits",
		do: func(w *workshop, d *draft, s *draftSigner) {
			huge := new(big.Int).SetBit(big.NewInt(1), 16383, 1)
			s.cert = w.issue(w.template("huge"), w.root, &rsa.PublicKey{N: huge, E: 65537})
			s.sid = sequence(s.cert.RawIssuer, tlv(tagInteger, s.cert.SerialNumber.Bytes()))
			d.certs = [][]byte{s.cert.Raw}
		}},
	{name: "49 name constraints of an authority hold", want: verify.SignatureNoChain, says: "constraint",
		do: func(w *workshop, d *draft, s *draftSigner) {
			template := w.template("narrow")
			template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
			template.PermittedEmailAddresses = []string{"example.org"}
			narrow := identity{w.issue(template, w.root, s.key.Public()), s.key}
			leaf := w.template("outside")
			leaf.EmailAddresses = []string{"mallory@example.net"}
			s.cert = w.issue(leaf, narrow, s.key.Public())
			s.sid = sequence(s.cert.RawIssuer, tlv(tagInteger, s.cert.SerialNumber.Bytes()))
			d.certs = [][]byte{s.cert.Raw, narrow.cert.Raw}
		}},
	{name: "49 names cannot pretend to be the message (rule 61)", want: verify.SignatureGood,
		says: "by \"CN=a\ufffd\ufffd[31m\\\\\\\" (good)\"",
		do: func(w *workshop, d *draft, s *draftSigner) {
			template := w.template("a\u202e\x1b[31m\" (good)")
			s.cert = w.issue(template, w.root, s.key.Public())
			s.sid = sequence(s.cert.RawIssuer, tlv(tagInteger, s.cert.SerialNumber.Bytes()))
			d.certs = [][]byte{s.cert.Raw}
		}},

	// Versions and limits.
	{name: "49 a later version of SignedData", want: verify.SignatureUnsupported,
		do: func(w *workshop, d *draft, s *draftSigner) { d.version = 6 }},
	{name: "49 a later version of SignerInfo", want: verify.SignatureUnsupported,
		do: func(w *workshop, d *draft, s *draftSigner) { s.version = 4 }},
	{name: "49 something behind the signers", want: verify.SignatureMalformed, says: "extra elements",
		do: func(w *workshop, d *draft, s *draftSigner) { d.extra = integer(1) }},
	{name: "49 eight signers", want: verify.SignatureGood,
		do: func(w *workshop, d *draft, s *draftSigner) { d.signers = slices.Repeat(d.signers, maxSigners) }},
	{name: "49 nine signers", want: verify.SignatureTooLarge,
		do: func(w *workshop, d *draft, s *draftSigner) { d.signers = slices.Repeat(d.signers, maxSigners+1) }},
	{name: "49 thirty-two certificates", want: verify.SignatureGood,
		do: func(w *workshop, d *draft, s *draftSigner) { d.certs = slices.Repeat(d.certs, maxCertificates) }},
	{name: "49 thirty-three certificates", want: verify.SignatureTooLarge,
		do: func(w *workshop, d *draft, s *draftSigner) { d.certs = slices.Repeat(d.certs, maxCertificates+1) }},
	{name: "49 sixty-five attributes", want: verify.SignatureTooLarge,
		do: func(w *workshop, d *draft, s *draftSigner) {
			s.attributes = append(s.attributes, slices.Repeat([][]byte{attribute(ed25519ID)}, maxAttributes-1)...)
		}},

	// Rule 48.
	{name: "48 good, and bad by another who counts", want: verify.SignatureBad,
		says: `by "CN=ed25519": bad: it is not a signature of this file (one of 2 signatures)`,
		do: func(w *workshop, d *draft, s *draftSigner) {
			bad := w.signer("ed25519")
			bad.attributes[1] = bad.digestOf("other")
			*d = *w.message(s, bad)
		}},
	{name: "48 good, and broken by another who counts", want: verify.SignatureBad,
		says: `by "CN=ed25519": bad: it was made by a different key`,
		do: func(w *workshop, d *draft, s *draftSigner) {
			bad := w.signer("ed25519")
			bad.key = newKey(w.t, "ed25519")
			*d = *w.message(bad, s)
		}},
	{name: "48 good, and broken by somebody unknown", want: verify.SignatureGood,
		do: func(w *workshop, d *draft, s *draftSigner) {
			elsewhere := newWorkshop(w.t)
			elsewhere.serial = 100 // the roots have one name
			bad := elsewhere.signer("ed25519")
			bad.key = newKey(w.t, "ed25519")
			*d = *w.message(bad, s)
		}},
	{name: "48 good, and one whose attributes are garbled", want: verify.SignatureGood, says: `"CN=ed25519" (malformed)`,
		do: func(w *workshop, d *draft, s *draftSigner) {
			odd := w.signer("ed25519")
			odd.attributes = odd.attributes[1:]
			*d = *w.message(odd, s)
		}},
	{name: "48 good, without signed attributes, and without a certificate", want: verify.SignatureGood,
		do: func(w *workshop, d *draft, s *draftSigner) {
			one, two := w.signer("ed25519"), w.signer("ecdsa")
			one.attributes = nil
			*d = *w.message(one, s, two)
			d.certs = d.certs[:2]
		}},
}

// TestGuards_Rule49 shows of each guard that what it keeps out would be good otherwise.
func TestGuards_Rule49(t *testing.T) {
	for _, g := range guards {
		t.Run(g.name, func(t *testing.T) {
			w := newWorkshop(t)
			kind := g.kind
			if kind == "" {
				kind = "ecdsa"
			}
			s := w.signer(kind)
			d := w.message(s)
			if g.do != nil {
				g.do(w, d, s)
			}
			got, err := check(d.der(), []*x509.Certificate{w.root.cert}, w.now, strings.NewReader(signed))
			expect(t, got, err, g.want, g.says)
		})
	}
}
