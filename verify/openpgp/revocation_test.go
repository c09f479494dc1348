package openpgp

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
	pgp "github.com/ProtonMail/go-crypto/openpgp/v2"

	"braid/verify"
)

// Proves rule 47: a revocation of a key counts wherever it is in the exports.
func TestRevocationPlace_Rule47(t *testing.T) {
	made := recordings(t)
	binary := func(name string) (data []byte) {
		blocks, _ := dearmor(made[name])
		return blocks[0].data
	}
	key, rev := made["alive.pub"], made["gone.rev"]
	bare := binary("alive.pub")
	eachPacket(bare, func(p *packet.OpaquePacket) error {
		var b bytes.Buffer
		p.Serialize(&b)
		bare = b.Bytes()
		return errors.New("only the primary key")
	})
	for _, m := range []merger{
		{"alone", [][]byte{key}, made["gone.asc"], verify.SignatureGood},
		{"a block after it", [][]byte{slices.Concat(key, rev)}, made["gone.asc"], verify.SignatureRevoked},
		{"a block before it", [][]byte{slices.Concat(rev, key)}, made["gone.asc"], verify.SignatureRevoked},
		{"a block in another export", [][]byte{made["rsa.pub"], rev, made["nist.pub"], key}, made["gone.asc"],
			verify.SignatureRevoked},
		{"a block of a signature", [][]byte{key, bytes.ReplaceAll(rev, []byte("PUBLIC KEY BLOCK"),
			[]byte("SIGNATURE"))}, made["gone.asc"], verify.SignatureRevoked},
		{"binary behind it", [][]byte{slices.Concat(binary("alive.pub"), binary("gone.rev"))}, made["gone.asc"],
			verify.SignatureRevoked},
		{"binary behind it and a marker", [][]byte{slices.Concat(binary("alive.pub"),
			packetOf(tagMarker, []byte("PGP")), binary("gone.rev"))}, made["gone.asc"], verify.SignatureRevoked},
		{"behind the primary key alone", [][]byte{key, slices.Concat(bare, binary("gone.rev"))}, made["gone.asc"],
			verify.SignatureRevoked},
		{"of another key alone", [][]byte{made["rsa.pub"], slices.Concat(bare, binary("gone.rev"))}, made["rsa.asc"],
			verify.SignatureGood},
	} {
		m.check(t)
	}
	_, err := ParseKeyring(made["rsa.pub"], rev)
	if err == nil || !strings.Contains(err.Error(), "it has a revocation of ") ||
		!strings.Contains(err.Error(), ", but not this key") {
		t.Errorf("without its key: %v", err)
	}
	eachPacket(binary("gone.rev"), func(p *packet.OpaquePacket) error {
		cut := packetOf(tagSignature, p.Contents[:len(p.Contents)-9])
		if _, err := ParseKeyring(slices.Concat(cut, binary("alive.pub"))); err == nil {
			t.Error("a revocation that is cut off is taken")
		}
		return nil
	})
}

// signedBy returns a signature of the primary key of e, or of part behind it.
func signedBy(t *testing.T, e *pgp.Entity, by *packet.PrivateKey, d draft, part ...byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := e.PrimaryKey.SerializeForHash(&b); err != nil {
		t.Fatal(err)
	}
	return d.by(t, by, b.String()+string(part))
}

// Proves rule 47: a revocation that the library does not support counts, for the part of the key that it follows.
func TestRevocationUnsupported_Rule47(t *testing.T) {
	const ripemd = 3
	ann, eve := newEntity(t, at(born)), newEntity(t, at(born))
	sub := withSubkey(t, ann, at(born))
	export := publicKey(t, ann)
	// after returns export with a signature behind the last packet with this tag.
	after := func(tag uint8, sig []byte) (all []byte) {
		var packets [][]byte
		last := 0
		eachPacket(export, func(p *packet.OpaquePacket) error {
			var b bytes.Buffer
			if err := p.Serialize(&b); err != nil {
				return err
			}
			if packets = append(packets, b.Bytes()); p.Tag == tag {
				last = len(packets)
			}
			return nil
		})
		return slices.Concat(slices.Insert(packets, last, sig)...)
	}
	odd := func(kind packet.SignatureType) []byte {
		return draft{kind: kind, hash: ripemd}.by(t, ann.PrivateKey, "")
	}
	ofPrimary, ofSub := draft{}.by(t, ann.PrivateKey, signed), draft{}.by(t, sub.PrivateKey, signed)
	const userID = 13
	for _, m := range []merger{
		{"of the key", [][]byte{after(tagPublicKey, odd(packet.SigTypeKeyRevocation))}, ofPrimary, verify.SignatureRevoked},
		{"of the key, behind a subkey", [][]byte{after(tagPublicSubkey, odd(packet.SigTypeKeyRevocation))}, ofSub,
			verify.SignatureRevoked},
		{"of version 3", [][]byte{after(tagPublicKey, packetOf(tagSignature, []byte{3, 5, 0x20, 0, 0, 0, 0}))},
			ofPrimary, verify.SignatureRevoked},
		{"of the subkey", [][]byte{after(tagPublicSubkey, odd(packet.SigTypeSubkeyRevocation))}, ofSub, verify.SignatureRevoked},
		{"of the subkey, for the primary key", [][]byte{after(tagPublicSubkey, odd(packet.SigTypeSubkeyRevocation))},
			ofPrimary, verify.SignatureGood},
		{"of the user ID", [][]byte{after(userID, odd(packet.SigTypeCertificationRevocation))}, ofPrimary,
			verify.SignatureKeyUnfit},
		{"by another key", [][]byte{after(tagPublicKey, draft{kind: packet.SigTypeKeyRevocation, hash: ripemd}.by(t,
			eve.PrivateKey, ""))}, ofPrimary, verify.SignatureGood},
	} {
		m.check(t)
	}
	keys, err := ParseKeyring(after(tagPublicKey, odd(packet.SigTypeKeyRevocation)))
	if err != nil {
		t.Fatal(err)
	}
	if _, says := verdict(ofPrimary, keys, Policy{Now: present}, signed); !strings.Contains(says,
		"by a signature that cannot be checked") {
		t.Error(says)
	}
}

// Proves rule 47: a revocation counts if the key names its issuer as a revoker.
func TestRevoker_Rule47(t *testing.T) {
	ann, bob, eve := newEntity(t, at(born)), newEntity(t, at(born)), newEntity(t, at(born))
	names := draft{kind: packet.SigTypeDirectSignature,
		hashed: subpacket(subpacketRevoker, append([]byte{0x80, byte(bob.PrimaryKey.PubKeyAlgo)},
			bob.PrimaryKey.Fingerprint...)...)}
	named := signedBy(t, ann, ann.PrivateKey, names)
	revoke := draft{kind: packet.SigTypeKeyRevocation}
	export, sig := publicKey(t, ann), draft{}.by(t, ann.PrivateKey, signed)
	byBob, byEve := signedBy(t, ann, bob.PrivateKey, revoke), signedBy(t, ann, eve.PrivateKey, revoke)
	forged := signedBy(t, ann, bob.PrivateKey, revoke, 'x')
	for _, m := range []merger{
		{"named only", [][]byte{slices.Concat(export, named)}, sig, verify.SignatureGood},
		{"by the revoker", [][]byte{slices.Concat(export, named, byBob)}, sig, verify.SignatureRevoked},
		{"by the revoker, whose key is here", [][]byte{slices.Concat(export, named, byBob), publicKey(t, bob)}, sig,
			verify.SignatureRevoked},
		{"forged, and the revoker's key is here", [][]byte{publicKey(t, bob), slices.Concat(export, named, forged)},
			sig, verify.SignatureGood},
		{"by another key", [][]byte{slices.Concat(export, named, byEve)}, sig, verify.SignatureGood},
		{"by a key that is not named", [][]byte{slices.Concat(export, byBob)}, sig, verify.SignatureGood},
	} {
		m.check(t)
	}
}
