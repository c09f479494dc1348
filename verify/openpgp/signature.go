package openpgp

import (
	"braid/verify"
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

const (
	maxSignatures = 100
	maxSubpackets = 250 // in a signature of a file; the library needs many times the memory of each
)

// A written is a parsed signature packet.
type written struct {
	version byte
	kind    packet.SignatureType
	hash    byte
	issuer  issuer
	sig     *packet.Signature // nil if the library does not support the signature
	err     error             // why sig is nil
}

// An issuer identifies the key that made a signature. It is an unproven hint, and may be empty.
type issuer struct {
	key   Fingerprint
	id    uint64
	hasID bool
}

// names reports whether i identifies key. If i has a fingerprint, the key ID is not compared, because several keys can
// have the same key ID.
func (i issuer) names(key Fingerprint) bool {
	if !i.key.IsZero() {
		return i.key == key
	}
	return i.hasID && i.id == key.keyID()
}

// String returns the fingerprint, or else the key ID.
func (i issuer) String() string {
	switch {
	case !i.key.IsZero():
		return i.key.String()
	case i.hasID:
		return fmt.Sprintf("%016X", i.id)
	}
	return "an unnamed key"
}

// readSignatures parses a file of detached signatures: binary, or one or more blocks of armor. Anything else in the
// file is a *verify.SignatureError, because a message, signed or not, proves nothing about another file.
func readSignatures(file []byte) ([]written, error) {
	if len(file) > verify.MaxSignature {
		return nil, fail(verify.SignatureTooLarge, "it has %d bytes, more than %d", len(file), verify.MaxSignature)
	}
	if len(bytes.TrimSpace(file)) == 0 {
		return nil, fail(verify.SignatureMissing, "empty")
	}
	parts := [][]byte{file}
	if !isBinary(file) {
		var err error
		if parts, err = signatureBlocks(file); err != nil {
			return nil, err
		}
	}
	var list []written
	for _, part := range parts {
		err := eachPacket(part, func(p *packet.OpaquePacket) error { return appendSignature(&list, p) })
		if err != nil {
			return nil, asError(err)
		}
	}
	if len(list) == 0 {
		return nil, fail(verify.SignatureNotOfFile, "it has no signature")
	}
	return list, nil
}

// isBinary reports whether file consists of packets instead of armor: the first bit of each packet is set (RFC 9580,
// section 4.2).
func isBinary(file []byte) bool { return len(file) > 0 && file[0]&0x80 != 0 }

// asError returns err if it is a *verify.SignatureError, and otherwise converts it to one.
func asError(err error) error {
	if _, ok := err.(*verify.SignatureError); ok {
		return err
	}
	return fail(verify.SignatureMalformed, "%v", err)
}

// signatureBlocks returns the armored signatures in file. Any other text is an error.
func signatureBlocks(file []byte) (parts [][]byte, err error) {
	blocks, stray := dearmor(file)
	for _, b := range blocks {
		if b.kind != signatureBlock {
			return nil, fail(verify.SignatureNotOfFile, "%s", describeBlock(b.kind))
		}
		if b.err != nil {
			return nil, fail(verify.SignatureMalformed, "%v", b.err)
		}
		parts = append(parts, b.data)
	}
	if stray > 0 {
		return nil, fail(verify.SignatureMalformed, "line %d is not part of a signature", stray)
	}
	return parts, nil
}

func describeBlock(kind string) string {
	switch kind {
	case cleartextBlock:
		return "a text that includes its signature"
	case messageBlock:
		return "a message, signed or encrypted"
	case publicBlock, privateBlock:
		return "a key"
	case signatureBlock:
		return "a signature"
	}
	return quote(kind)
}

// appendSignature adds the signature in p to list. It skips packets that must be ignored; any other packet is an error.
func appendSignature(list *[]written, p *packet.OpaquePacket) error {
	switch {
	case p.Tag == tagMarker || p.Tag == tagPadding || p.Tag >= firstIgnorable:
		return nil
	case p.Tag != tagSignature:
		return fail(verify.SignatureNotOfFile, "%s", describePacket(p.Tag))
	case len(*list) == maxSignatures:
		return fail(verify.SignatureTooLarge, "more than %d signatures", maxSignatures)
	}
	w, err := readSignature(p)
	if err != nil {
		return err
	}
	*list = append(*list, w)
	return nil
}

func describePacket(tag uint8) string {
	switch tag {
	case tagPublicKey, tagPublicSubkey, tagSecretKey, tagSecretSubkey:
		return "a key"
	case 4, 8, 11: // one-pass signature, compressed data, literal data
		return "a signed message"
	case 1, 3, 9, 18, 20:
		return "an encrypted message"
	}
	return fmt.Sprintf("a packet of type %d", tag)
}

// readSignature parses a signature packet (RFC 9580, section 5.2). If the version or a part of the signature is
// unsupported, it sets err in the result instead of returning an error.
func readSignature(p *packet.OpaquePacket) (written, error) {
	body := p.Contents
	if len(body) < 4 {
		return written{}, fail(verify.SignatureMalformed, "a signature of %d bytes", len(body))
	}
	w := written{version: body[0]}
	if w.version == 4 || w.version == 6 {
		w.kind, w.hash = packet.SignatureType(body[1]), body[3]
		w.issuer = issuerOf(body)
	}
	if countSubpackets(body) > maxSubpackets {
		return written{}, fail(verify.SignatureTooLarge, "more than %d subpackets in a signature", maxSubpackets)
	}
	parsed, err := parsePacket(p)
	switch sig, ok := parsed.(*packet.Signature); {
	case ok:
		w.sig = sig
	case isUnsupported(err):
		w.err = err
	default:
		return written{}, fail(verify.SignatureMalformed, "%v", err)
	}
	return w, nil
}

// issuerOf returns the issuer in the hashed subpackets, or else in the unhashed subpackets, which are not signed.
func issuerOf(body []byte) (i issuer) {
	for kind, c := range subpackets(body) {
		switch {
		case kind == subpacketFingerprint && len(c) > 0 && i.key.IsZero():
			i.key = fingerprint(c[1:])
		case kind == subpacketKeyID && len(c) == 8 && !i.hasID:
			i.id, i.hasID = binary.BigEndian.Uint64(c), true
		}
	}
	return i
}
