package openpgp

import (
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
	pgp "github.com/ProtonMail/go-crypto/openpgp/v2"
)

// A merger is a row: exports of one key, and what must come of a signature.
type merger struct {
	name    string
	exports [][]byte
	sig     []byte
	want    Kind
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
		{"old", [][]byte{old}, sig, KeyExpired},
		{"extended", [][]byte{old, extended}, sig, Good},
		{"extended, in the other order", [][]byte{extended, old}, sig, Good},
		{"renamed", [][]byte{old, renamed}, sig, Good},
		{"limited by a direct-key signature", [][]byte{renamed, limited}, sig, KeyExpired},
		{"without a name", [][]byte{renamed, nameless}, sig, KeyUnfit},
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
		{"none", [][]byte{without}, sig, UnknownKey},
		{"added", [][]byte{without, long}, sig, Good},
		{"added, in the other order", [][]byte{long, without}, sig, Good},
		{"expired", [][]byte{without, short}, sig, KeyExpired},
		{"extended", [][]byte{short, long}, sig, Good},
		{"extended, in the other order", [][]byte{long, short}, sig, Good},
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

// Of signatures that prove nothing the one is told of that says most: a bad one, then what is wrong with a key that is known, then keys
// that do not count. What cannot be read and names no key says least.
func TestWorst(t *testing.T) {
	known := Fingerprint{"k"}
	order := []Signature{
		{Kind: Bad, Key: known}, {Kind: Unsupported, Key: known}, {Kind: NotPinned, Key: known}, {Kind: UnknownKey, Key: known}, {Kind: Unsupported},
	}
	for i, s := range order {
		var all []Signature
		for _, other := range order[i:] {
			all = append([]Signature{other}, all...)
		}
		if e := worst(all); e.Kind != s.Kind || e.Key != s.Key {
			t.Errorf("of %v: %v", all, e)
		}
	}
}

// A reason stands behind what a signature says of itself.
func TestSignatureString(t *testing.T) {
	for reason, want := range map[string]string{"": "bad signature by nobody, SHA-512", "it is cut off": "bad signature by nobody, SHA-512: it is cut off"} {
		if got := (Signature{Kind: Bad, Issuer: "nobody", Hash: "SHA-512", Reason: reason}).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
