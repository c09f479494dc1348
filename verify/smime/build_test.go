package smime

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"slices"
	"sync"
	"testing"
	"time"
)

// A workshop makes certificates and messages that openssl would not make.
type workshop struct {
	t      testing.TB
	now    time.Time
	serial int64
	root   identity
}

// An identity is a certificate and its key.
type identity struct {
	cert *x509.Certificate
	key  crypto.Signer
}

func newWorkshop(t testing.TB) *workshop {
	w := &workshop{t: t, now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)}
	template := w.template("root")
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	template.ExtKeyUsage = nil
	w.root.key = newKey(t, "ecdsa")
	w.root.cert = w.issue(template, identity{template, w.root.key}, w.root.key.Public())
	return w
}

// rsaKeys are made once, because they take long: the first is the signers', the second another one.
var rsaKeys = sync.OnceValue(func() (keys [2]*rsa.PrivateKey) {
	for i := range keys {
		var err error
		if keys[i], err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
			panic(err)
		}
	}
	return keys
})

func newKey(t testing.TB, kind string) (key crypto.Signer) {
	t.Helper()
	var err error
	switch kind {
	case "rsa":
		return rsaKeys()[0]
	case "another rsa":
		return rsaKeys()[1]
	case "ed25519":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	default:
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// template is a certificate for signing files.
func (w *workshop) template(name string) *x509.Certificate {
	w.serial++
	return &x509.Certificate{
		SerialNumber: big.NewInt(w.serial),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    w.now.AddDate(-1, 0, 0),
		NotAfter:     w.now.AddDate(20, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageEmailProtection},
	}
}

func (w *workshop) issue(template *x509.Certificate, by identity, key crypto.PublicKey) *x509.Certificate {
	w.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, by.cert, key, by.key)
	if err != nil {
		w.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		w.t.Fatal(err)
	}
	return cert
}

// identity is somebody with a good certificate.
func (w *workshop) identity(kind string) identity {
	key := newKey(w.t, kind)
	return identity{w.issue(w.template(kind), w.root, key.Public()), key}
}

func (w *workshop) rootPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.root.cert.Raw})
}

// tlv is an element.
func tlv(tag byte, parts ...[]byte) []byte { return appendElement(nil, tag, slices.Concat(parts...)) }

func sequence(parts ...[]byte) []byte { return tlv(tagSequence, parts...) }
func set(parts ...[]byte) []byte      { return tlv(tagSet, parts...) }
func (o oid) der() []byte             { return tlv(tagOID, []byte(o)) }
func integer(n byte) []byte           { return tlv(tagInteger, []byte{n}) }

const (
	sha256ID      oid = "\x60\x86\x48\x01\x65\x03\x04\x02\x01"
	sha384ID      oid = "\x60\x86\x48\x01\x65\x03\x04\x02\x02"
	sha512ID      oid = "\x60\x86\x48\x01\x65\x03\x04\x02\x03"
	rsaID         oid = "\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01"
	rsaSHA256ID   oid = "\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b"
	rsaSHA512ID   oid = "\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0d"
	ecdsaSHA256ID oid = "\x2a\x86\x48\xce\x3d\x04\x03\x02"
	ecdsaSHA384ID oid = "\x2a\x86\x48\xce\x3d\x04\x03\x03"
	ed25519ID     oid = "\x2b\x65\x70"
)

// A draft is a message in the making; what is in it when der is called is in the message.
type draft struct {
	version     byte
	contentType oid
	content     []byte // nil: detached
	certs       [][]byte
	revoked     []byte
	signers     []*draftSigner
	extra       []byte // behind the signers
}

type draftSigner struct {
	identity
	version           byte
	sid               []byte
	digest, signature []byte
	attributes        [][]byte // nil: none
	unsigned          []byte
	hash              crypto.SignerOpts
	signs             func([]byte) []byte // makes of the attributes what is signed
}

// signer is somebody who signs the file well.
func (w *workshop) signer(kind string) *draftSigner { return w.by(w.identity(kind)) }

func (w *workshop) by(who identity) *draftSigner {
	s := &draftSigner{identity: who, version: 1, hash: crypto.SHA256, digest: sequence(sha256ID.der())}
	s.sid = sequence(who.cert.RawIssuer, tlv(tagInteger, who.cert.SerialNumber.Bytes()))
	switch who.key.(type) {
	case *rsa.PrivateKey:
		s.signature = sequence(rsaID.der(), tlv(tagNull))
	case ed25519.PrivateKey:
		s.hash, s.digest, s.signature = crypto.SHA512, sequence(sha512ID.der()), sequence(ed25519ID.der())
	default:
		s.signature = sequence(ecdsaSHA256ID.der())
	}
	s.attributes = [][]byte{attribute(idContentType, idData.der()), s.digestOf(signed)}
	return s
}

func attribute(id oid, values ...[]byte) []byte { return sequence(id.der(), set(values...)) }

func sum(hash crypto.Hash, text string) []byte {
	h := hash.New()
	h.Write([]byte(text))
	return h.Sum(nil)
}

// digestOf is the attribute messageDigest.
func (s *draftSigner) digestOf(file string) []byte {
	return attribute(idDigest, tlv(tagOctetString, sum(s.hash.HashFunc(), file)))
}

// message is a detached one about the file.
func (w *workshop) message(signers ...*draftSigner) *draft {
	d := &draft{version: 1, contentType: idData, signers: signers}
	for _, s := range signers {
		d.certs = append(d.certs, s.cert.Raw)
	}
	return d
}

func (d *draft) der() []byte {
	var infos [][]byte
	for _, s := range d.signers {
		infos = append(infos, s.der())
	}
	encap := [][]byte{d.contentType.der()}
	if d.content != nil {
		encap = append(encap, tlv(tagContext0, tlv(tagOctetString, d.content)))
	}
	body := [][]byte{integer(d.version), set(sequence(sha256ID.der())), sequence(encap...), tlv(tagContext0, d.certs...)}
	return sequence(idSignedData.der(), tlv(tagContext0, sequence(append(body, d.revoked, set(infos...), d.extra)...)))
}

func (s *draftSigner) der() []byte {
	parts := [][]byte{integer(s.version), s.sid, s.digest}
	toSign := set(s.attributes...)
	if s.attributes == nil {
		toSign = []byte(signed)
	} else {
		parts = append(parts, tlv(tagContext0, s.attributes...))
	}
	if s.signs != nil {
		toSign = s.signs(toSign)
	}
	return sequence(append(parts, s.signature, tlv(tagOctetString, s.sign(toSign)), s.unsigned)...)
}

func (s *draftSigner) sign(text []byte) []byte {
	options := s.hash
	if _, ok := s.key.(ed25519.PrivateKey); ok {
		options = crypto.Hash(0) // Ed25519 hashes by itself
	} else {
		text = sum(options.HashFunc(), string(text))
	}
	value, err := s.key.Sign(rand.Reader, text, options)
	if err != nil {
		panic(err)
	}
	return value
}
