package openpgp

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
	pgp "github.com/ProtonMail/go-crypto/openpgp/v2"
)

// A revocation is a revocation of a primary key, outside of the export of that key.
type revocation struct {
	of     issuer // the revoked key
	packet *packet.OpaquePacket
	bare   bool // it follows a key that cannot be read, so that key may be missing in the keyring
}

func isKeyRevocation(p *packet.OpaquePacket) bool {
	return p.Tag == tagSignature && kindOf(p.Contents) == packet.SigTypeKeyRevocation
}

// kindOf returns the type in the body of a signature packet of any version, or 0.
func kindOf(body []byte) packet.SignatureType {
	at := 1
	if len(body) > 0 && body[0] < 4 {
		at = 2 // RFC 9580, section 5.2.2
	}
	if at >= len(body) {
		return 0
	}
	return packet.SignatureType(body[at])
}

// revocationsOf returns the revocations in raw, an export of a key that the library refuses, such as one without user
// IDs. Key servers without the user IDs of a key distribute its revocation in this form.
func revocationsOf(raw []byte) (all []revocation) {
	var of *packet.PublicKey
	eachPacket(raw, func(p *packet.OpaquePacket) error {
		switch {
		case of == nil: // the first packet
			parsed, err := parsePacket(p)
			if of = publicIn(parsed); of == nil {
				return cmp.Or(err, errSecret)
			}
		case isKeyRevocation(p):
			all = append(all, revocation{issuer{key: fingerprint(of.Fingerprint)}, p, true})
		}
		return nil
	})
	return all
}

// join adds the revocations in k.loose to the keys that they revoke. It returns an error if a revocation is malformed or,
// unless part is set, if one of these keys is missing.
func (k *Keyring) join(part bool) error {
	for _, r := range k.loose {
		found := r.bare || part
		for i, c := range k.certs {
			if !r.of.names(c.keys[0]) {
				continue
			}
			found = true
			raw := bytes.NewBuffer(slices.Clone(c.raw))
			r.packet.Serialize(raw)
			keys, _, err := splitKeys(raw.Bytes())
			if err != nil {
				return err
			}
			if k.certs[i], err = readCertificate(keys[0]); err != nil {
				return fmt.Errorf("a revocation of %v: %w", r.of, err)
			}
		}
		if !found {
			return fmt.Errorf("it has a revocation of %v, but not this key", r.of)
		}
	}
	k.loose = nil
	return nil
}

// readEntity parses raw, an export of a key that may be in k, with the revocations that the library skips.
func (k Keyring) readEntity(raw []byte) (*pgp.Entity, error) {
	e, err := parseEntity(raw)
	if err == nil {
		k.addSkipped(e, raw)
	}
	return e, err
}

// addSkipped adds to e the revocations in raw that the library skips. A revocation in an unsupported form cannot be
// checked and is added. A revocation by a key that e names as its revoker (RFC 9580, section 5.2.3.23) is added unless
// k has the key of the revoker and that key did not make the revocation. The naming is not checked. Revocations by any
// other keys are ignored.
func (k Keyring) addSkipped(e *pgp.Entity, raw []byte) {
	primary := fingerprint(e.PrimaryKey.Fingerprint)
	var owner *packet.OpaquePacket // what the signatures follow
	var revokers []Fingerprint
	var foreign []*packet.OpaquePacket
	eachPacket(raw, func(p *packet.OpaquePacket) error {
		if p.Tag != tagSignature {
			owner = p
			return nil
		}
		by := issuerOf(p.Contents)
		own := by == (issuer{}) || by.names(primary)
		switch kindOf(p.Contents) {
		case packet.SigTypeKeyRevocation, packet.SigTypeSubkeyRevocation, packet.SigTypeCertificationRevocation:
			_, err := parsePacket(p)
			switch {
			case own && isUnsupported(err):
				addRevocation(e, owner, p, fmt.Sprintf("by a signature that cannot be checked: %v", err))
			case !own && isKeyRevocation(p):
				foreign = append(foreign, p)
			}
		default:
			if own {
				revokers = append(revokers, revokersIn(p.Contents)...)
			}
		}
		return nil
	})
	for _, p := range foreign {
		by := issuerOf(p.Contents)
		if slices.ContainsFunc(revokers, by.names) && !k.denies(by, e.PrimaryKey, p) {
			addRevocation(e, nil, p, fmt.Sprintf("by %v, a revoker that the key names", by))
		}
	}
}

// revokersIn returns the keys that a signature with this body names as revokers of its issuer.
func revokersIn(body []byte) (all []Fingerprint) {
	for kind, c := range subpackets(body) {
		if kind == subpacketRevoker && len(c) > 2 && c[0]&0x80 != 0 {
			all = append(all, fingerprint(c[2:]))
		}
	}
	return all
}

// denies reports whether k has the key that by identifies, and p is not a signature of revoked by that key.
func (k Keyring) denies(by issuer, revoked *packet.PublicKey, p *packet.OpaquePacket) bool {
	i := slices.IndexFunc(k.certs, func(c certificate) bool { return by.names(c.keys[0]) })
	parsed, err := parsePacket(p)
	if i < 0 || err != nil {
		return false
	}
	e, err := parseEntity(k.certs[i].raw)
	if err != nil {
		return false
	}
	sig := parsed.(*packet.Signature)
	h, err := sig.PrepareVerify()
	if err == nil {
		err = revoked.SerializeForHash(h)
	}
	return err == nil && e.PrimaryKey.VerifySignature(h, sig) != nil
}

// addRevocation adds a revocation with the time in p. It revokes the subkey or user ID in owner, or else all of e. Its
// version is 0, so that [revocationReason] returns the text why.
func addRevocation(e *pgp.Entity, owner, p *packet.OpaquePacket, why string) {
	valid := true
	r := &packet.VerifiableSignature{Valid: &valid, Packet: &packet.Signature{RevocationReasonText: why}}
	for kind, c := range subpackets(p.Contents) {
		if kind == subpacketMade && len(c) == 4 {
			r.Packet.CreationTime = time.Unix(int64(binary.BigEndian.Uint32(c)), 0)
			break
		}
	}
	if owner == nil || owner.Tag == tagPublicKey || owner.Tag == tagSecretKey {
		e.Revocations = append(e.Revocations, r)
		return
	}
	parsed, _ := parsePacket(owner)
	if id, ok := parsed.(*packet.UserId); ok && e.Identities[id.Id] != nil {
		e.Identities[id.Id].Revocations = append(e.Identities[id.Id].Revocations, r)
	}
	key := publicIn(parsed)
	for i := range e.Subkeys {
		if sub := &e.Subkeys[i]; key != nil && bytes.Equal(key.Fingerprint, sub.PublicKey.Fingerprint) {
			sub.Revocations = append(sub.Revocations, r)
		}
	}
}

// publicIn returns the public key in p, or nil if p is not a key.
func publicIn(p packet.Packet) *packet.PublicKey {
	switch key := p.(type) {
	case *packet.PublicKey:
		return key
	case *packet.PrivateKey:
		return &key.PublicKey
	}
	return nil
}
