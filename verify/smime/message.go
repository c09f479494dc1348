package smime

import (
	"braid/verify"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"math/big"
	"time"
)

// The limits of a message. Usually a message has one signer and two or three certificates. For each signer, package
// x509 may verify up to a hundred signatures of certificates.
const (
	maxSigners      = 8
	maxCertificates = 32
	maxAttributes   = 64
)

const (
	idData        oid = "\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01" // 1.2.840.113549.1.7.1
	idSignedData  oid = "\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02"
	idContentType oid = "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x03"
	idDigest      oid = "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x04"
	idSigningTime oid = "\x2a\x86\x48\x86\xf7\x0d\x01\x09\x05"
)

// A message is SignedData (RFC 5652, section 5.1) about a file.
type message struct {
	opaque       bool   // the message has the content that it signs
	content      []byte // if opaque
	certificates []*x509.Certificate
	unreadable   error // error of the first unreadable certificate, or nil
	signers      []signerInfo
}

// A signerInfo is the signature of one signer (RFC 5652, section 5.3).
type signerInfo struct {
	issuer    []byte   // in DER; nil if the signer is named by keyID
	serial    *big.Int // set with issuer
	keyID     []byte
	digest    algorithm
	signature algorithm
	value     []byte
	attributes
	fault *verify.SignatureError // fault in the signed attributes, or nil
}

// attributes are the signed attributes (RFC 5652, section 11).
type attributes struct {
	signed        []byte // the SET OF in DER, which the signature covers
	messageDigest []byte
	signingTime   time.Time // zero if missing or unreadable
}

// An algorithm is an AlgorithmIdentifier. Its parameters are nil if missing or NULL.
type algorithm struct {
	id         oid
	parameters []byte
}

// parseMessage parses a ContentInfo with SignedData (RFC 5652, sections 3 and 5.1).
func parseMessage(data []byte) (message, *verify.SignatureError) {
	der, err := toDER(data)
	if err != nil {
		return message{}, err
	}
	top := newReader(der)
	info := top.into(tagSequence, "ContentInfo")
	if kind := info.oid("content type"); top.err() == nil && kind != idSignedData {
		return message{}, fail(verify.SignatureNotOfFile, "it is a CMS message of type %v", kind)
	}
	explicit := info.into(tagContext0, "content")
	sd := explicit.into(tagSequence, "SignedData")
	explicit.end("the content")
	info.end("ContentInfo")
	m := sd.signedData()
	return m, top.err()
}

func (r *reader) signedData() (m message) {
	r.version("SignedData", 5)
	r.take(tagSet, "set of digest algorithms") // not used: each signer names its digest algorithm
	encap := r.into(tagSequence, "EncapsulatedContentInfo")
	// RFC 8551, section 2.4.1: S/MIME's inner content is id-data. Time stamps, for example, sign something else.
	if kind := encap.oid("type of the content"); r.err() == nil && kind != idData {
		r.fail(verify.SignatureNotOfFile, "its content is of type %v", kind)
	}
	if explicit, ok := encap.optional(tagContext0, "content"); ok {
		inner := r.open(explicit)
		m.content, m.opaque = inner.take(tagOctetString, "content").content, true
		inner.end("the content")
	}
	encap.end("EncapsulatedContentInfo")
	if set, ok := r.optional(tagContext0, "certificates"); ok {
		m.addCertificates(r.open(set))
	}
	r.optional(tagContext0+1, "revocation lists") // not used: revocation lists may be incomplete or old
	for infos := r.into(tagSet, "set of signers"); !infos.empty(); {
		if len(m.signers) == maxSigners {
			infos.fail(verify.SignatureTooLarge, "more than %d signers", maxSigners)
		}
		m.signers = append(m.signers, infos.into(tagSequence, "SignerInfo").signerInfo())
	}
	r.end("SignedData")
	if len(m.signers) == 0 {
		r.fail(verify.SignatureNotOfFile, "it has no signer")
	}
	return m
}

// version reads a version. A version later than latest is a fault, reported under the name what.
func (r *reader) version(what string, latest int) {
	if v := r.small("version of " + what); v > latest {
		r.fail(verify.SignatureUnsupported, "version %d of %s", v, what)
	}
}

// addCertificates adds the X.509 certificates and skips other kinds (RFC 5652, section 10.2.3).
func (m *message) addCertificates(set *reader) {
	for n := 0; !set.empty(); n++ {
		if n == maxCertificates {
			set.fail(verify.SignatureTooLarge, "more than %d certificates", maxCertificates)
		}
		e := set.any("certificate")
		if e.tag != tagSequence {
			continue
		}
		cert, err := x509.ParseCertificate(e.full)
		switch {
		case err == nil:
			m.certificates = append(m.certificates, cert)
		case m.unreadable == nil:
			m.unreadable = err
		}
	}
}

func (r *reader) signerInfo() (s signerInfo) {
	r.version("SignerInfo", 3)
	if keyID, ok := r.optional(tagImplicit0, "key identifier"); ok {
		s.keyID = keyID.content
	} else {
		name := r.into(tagSequence, "issuer and serial number")
		s.issuer = name.take(tagSequence, "issuer").full
		s.serial = new(big.Int).SetBytes(name.take(tagInteger, "serial number").content)
		name.end("issuer and serial number")
	}
	s.digest = r.algorithm("digest algorithm")
	if set, ok := r.optional(tagContext0, "signed attributes"); ok {
		s.attributes, s.fault = readAttributes(set)
	} else {
		// A signature without attributes covers the file itself. If it were accepted, the encoded attributes of another
		// signature by the same key would pass as a signed file.
		s.fault = fail(verify.SignatureNotOfFile, "it has no signed attributes (openssl's -noattr)")
	}
	s.signature = r.algorithm("signature algorithm")
	s.value = r.take(tagOctetString, "signature").content
	r.optional(tagContext0+1, "unsigned attributes")
	r.end("SignerInfo")
	return s
}

func (r *reader) algorithm(what string) algorithm {
	id := r.into(tagSequence, what)
	a := algorithm{id: id.oid(what)}
	if _, null := id.optional(tagNull, ""); !null && !id.empty() {
		a.parameters = id.any("parameters of the " + what).full
	}
	id.end(what)
	return a
}

// readAttributes parses signed attributes. "A separate encoding of the signedAttrs field is performed for message
// digest calculation. The IMPLICIT [0] tag in the signedAttrs is not used for the DER encoding, rather an EXPLICIT SET
// OF tag is used" (RFC 5652, section 5.4).
func readAttributes(set element) (attributes, *verify.SignatureError) {
	a := attributes{signed: appendElement(nil, tagSet, set.content)}
	seen := map[oid]bool{}
	r := newReader(set.content)
	for n := 0; !r.empty(); n++ {
		if n == maxAttributes {
			r.fail(verify.SignatureTooLarge, "more than %d signed attributes", maxAttributes)
		}
		attribute := r.into(tagSequence, "signed attribute")
		kind := attribute.oid("type of a signed attribute")
		values := attribute.into(tagSet, "values of a signed attribute")
		attribute.end("a signed attribute")
		switch kind {
		case idContentType, idDigest, idSigningTime:
			// RFC 5652, section 11: each "MUST NOT include multiple instances" and "MUST have a single attribute value".
			if seen[kind] {
				r.fail(verify.SignatureMalformed, "the signed attribute %v appears twice", kind)
			}
			seen[kind] = true
			a.read(kind, values)
			values.end("a signed attribute")
		}
	}
	if !seen[idContentType] || !seen[idDigest] {
		r.fail(verify.SignatureMalformed, "its signed attributes lack contentType or messageDigest")
	}
	return a, r.err()
}

// read parses the value of the attribute of type kind into a.
func (a *attributes) read(kind oid, values *reader) {
	switch kind {
	case idContentType: // MUST be the type in SignedData (RFC 5652, section 11.1), which is id-data here
		if t := values.oid("contentType"); values.err() == nil && t != idData {
			values.fail(verify.SignatureMalformed, "the signed attribute contentType is %v, the content is not", t)
		}
	case idDigest:
		a.messageDigest = values.take(tagOctetString, "messageDigest").content
	case idSigningTime:
		_, _ = asn1.Unmarshal(values.any("signingTime").full, &a.signingTime)
	}
}

// name returns how the message identifies the signer.
func (s signerInfo) name() string {
	if s.issuer == nil {
		return "key identifier " + printable(hex.EncodeToString(s.keyID))
	}
	return "serial number " + printable(s.serial.Text(16)) + " of " + distinguishedName(s.issuer)
}
