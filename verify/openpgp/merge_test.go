package openpgp

import (
	"braid/verify"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
	pgp "github.com/ProtonMail/go-crypto/openpgp/v2"
)

// A merger is a row: exports of one key, and what must come of a signature.
type merger struct {
	name    string
	exports [][]byte
	sig     []byte
	want    verify.SignatureCode
}

func (m merger) check(t *testing.T) {
	t.Helper()
	keys, err := ParseKeyring(m.exports...)
	if err != nil {
		t.Fatal(err)
	}
	if got, says := verdict(m.sig, keys, Policy{Now: present}, signed); got != m.want {
		t.Errorf("%s: got %v: %s, want %v", m.name, got, says, m.want)
	}
}

// Two exports of a key are one: what the newer one says of the primary key counts, wherever it stands.
func TestMergedExports(t *testing.T) {
	e := newEntity(t, &packet.Config{Time: at(born).Time, Algorithm: packet.PubKeyAlgoEd25519, KeyLifetimeSecs: day20})
	sig := draft{}.by(t, e.PrivateKey, signed)
	old := publicKey(t, e)
	recertify(t, e, func(s *packet.Signature) { s.CreationTime, s.KeyLifetimeSecs = made, nil })
	extended := publicKey(t, e)
	clear(e.Identities)
	if err := e.AddUserId("Bea", "", "bea@example.org", at(made)); err != nil {
		t.Fatal(err)
	}
	renamed := publicKey(t, e)
	limitDirectly(t, e)
	limited := publicKey(t, e)
	e.DirectSignatures = nil
	revokeNames(t, e)
	nameless := publicKey(t, e)
	for _, m := range []merger{
		{"old", [][]byte{old}, sig, verify.SignatureKeyExpired},
		{"extended", [][]byte{old, extended}, sig, verify.SignatureGood},
		{"extended, in the other order", [][]byte{extended, old}, sig, verify.SignatureGood},
		{"renamed", [][]byte{old, renamed}, sig, verify.SignatureGood},
		{"limited by a direct-key signature", [][]byte{renamed, limited}, sig, verify.SignatureKeyExpired},
		{"without a name", [][]byte{renamed, nameless}, sig, verify.SignatureKeyUnfit},
	} {
		m.check(t)
	}
}

// The same for subkeys.
func TestMergedSubkeys(t *testing.T) {
	e := newEntity(t, at(born))
	without := publicKey(t, e)
	sub := withSubkey(t, e, at(born))
	sig := draft{}.by(t, sub.PrivateKey, signed)
	rebind(t, e, sub, func(b *packet.Signature) { b.KeyLifetimeSecs = seconds(day20) })
	short := publicKey(t, e)
	rebind(t, e, sub, func(b *packet.Signature) { b.CreationTime, b.KeyLifetimeSecs = made, nil })
	long := publicKey(t, e)
	for _, m := range []merger{
		{"none", [][]byte{without}, sig, verify.SignatureUnknownKey},
		{"added", [][]byte{without, long}, sig, verify.SignatureGood},
		{"added, in the other order", [][]byte{long, without}, sig, verify.SignatureGood},
		{"expired", [][]byte{without, short}, sig, verify.SignatureKeyExpired},
		{"extended", [][]byte{short, long}, sig, verify.SignatureGood},
		{"extended, in the other order", [][]byte{long, short}, sig, verify.SignatureGood},
	} {
		m.check(t)
	}
}

// revokeNames takes the user IDs of e back.
func revokeNames(t *testing.T, e *pgp.Entity) {
	t.Helper()
	for _, id := range e.Identities {
		s := bySelf(e, packet.SigTypeCertificationRevocation)
		s.CreationTime = made
		if err := s.SignUserId(id.Name, e.PrimaryKey, e.PrivateKey, at(made)); err != nil {
			t.Fatal(err)
		}
		id.Revocations = append(id.Revocations, packet.NewVerifiableSig(s))
	}
}
