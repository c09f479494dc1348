package openpgp

import (
	"braid/verify"
	"bytes"
	"crypto"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
	pgp "github.com/ProtonMail/go-crypto/openpgp/v2"
)

// rebind signs a subkey anew after change.
func rebind(t testing.TB, e *pgp.Entity, sub *pgp.Subkey, change func(*packet.Signature)) {
	t.Helper()
	b := sub.Bindings[0].Packet
	change(b)
	if err := b.SignKey(sub.PublicKey, e.PrivateKey, at(b.CreationTime)); err != nil {
		t.Fatal(err)
	}
}

// recertify signs the user ID anew after change.
func recertify(t testing.TB, e *pgp.Entity, change func(*packet.Signature)) {
	t.Helper()
	for _, id := range e.Identities {
		s := id.SelfCertifications[0].Packet
		change(s)
		if err := s.SignUserId(id.Name, e.PrimaryKey, e.PrivateKey, at(s.CreationTime)); err != nil {
			t.Fatal(err)
		}
	}
}

// Proves rule 47 for weak keys: neither the key that signs nor the primary key that vouches for it may be one.
func TestWeakKeys_Rule47(t *testing.T) {
	short := &packet.Config{Time: at(made).Time, RSABits: 1024, MinRSABits: 1024}
	strong, weak := newEntity(t, at(born)), newEntity(t, short)
	byStrong := withSubkey(t, weak, at(made))
	byWeak := withSubkey(t, strong, short)
	sign := *short
	sign.SigningKeyId = byWeak.PublicKey.KeyId
	var sig bytes.Buffer
	if err := pgp.DetachSign(&sig, []*pgp.Entity{strong}, strings.NewReader(signed), &sign); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		sig  []byte
		keys Keyring
	}{
		"subkey":      {sig.Bytes(), keyringOf(t, strong)},
		"primary key": {draft{}.by(t, byStrong.PrivateKey, signed), keyringOf(t, weak)},
	} {
		if got, says := verdict(tt.sig, tt.keys, Policy{Now: present}, signed); got != verify.SignatureWeak ||
			!strings.Contains(says, "RSA key has 1024 bits") {
			t.Errorf("%s: got %v: %s", name, got, says)
		}
	}
}

// limitDirectly lets the primary key expire by a direct-key signature.
func limitDirectly(t testing.TB, e *pgp.Entity) {
	t.Helper()
	s := bySelf(e, packet.SigTypeDirectSignature)
	s.KeyLifetimeSecs = seconds(day20)
	if err := s.SignDirectKeyBinding(e.PrimaryKey, e.PrivateKey, at(born)); err != nil {
		t.Fatal(err)
	}
	e.DirectSignatures = append(e.DirectSignatures, packet.NewVerifiableSig(s))
}

// bySelf begins a signature of e about itself.
func bySelf(e *pgp.Entity, kind packet.SignatureType) *packet.Signature {
	return &packet.Signature{
		Version: 4, SigType: kind, PubKeyAlgo: e.PrimaryKey.PubKeyAlgo, Hash: crypto.SHA256,
		CreationTime: born, IssuerKeyId: &e.PrimaryKey.KeyId,
	}
}

func seconds(n uint32) *uint32 { return &n }

const day20 = 20 * 24 * 3600 // from born, between made and present

// Proves rule 47 for keys that must not sign files, although the mathematics are right.
func TestUnfitKeys_Rule47(t *testing.T) {
	eve := newEntity(t, at(born))
	tests := []struct {
		name   string
		change func(t *testing.T, e *pgp.Entity, sub *pgp.Subkey)
		policy Policy
		sub    time.Time // when the subkey is made, if not with the primary key
		made   time.Time
		want   verify.SignatureCode // of a signature by the subkey
		says   string
	}{
		{name: "as it is", want: verify.SignatureGood},
		{name: "no back-signature", want: verify.SignatureKeyUnfit, says: "back-signature",
			change: func(t *testing.T, e *pgp.Entity, sub *pgp.Subkey) {
				rebind(t, e, sub, func(b *packet.Signature) { b.EmbeddedSignature = nil })
			}},
		{name: "back-signature of another key", want: verify.SignatureKeyUnfit, says: "back-signature",
			change: func(t *testing.T, e *pgp.Entity, sub *pgp.Subkey) {
				other := withSubkey(t, eve, at(born))
				rebind(t, e, sub, func(b *packet.Signature) { b.EmbeddedSignature = other.Bindings[0].Packet.EmbeddedSignature })
			}},
		{name: "not bound by its primary key", want: verify.SignatureKeyUnfit, says: "without a valid signature",
			change: func(t *testing.T, e *pgp.Entity, sub *pgp.Subkey) {
				sub.Bindings = eve.Subkeys[0].Bindings
			}},
		{name: "flags without signing", want: verify.SignatureKeyUnfit, says: "may not sign files",
			change: func(t *testing.T, e *pgp.Entity, sub *pgp.Subkey) {
				rebind(t, e, sub, func(b *packet.Signature) { b.FlagSign, b.FlagAuthenticate = false, true })
			}},
		{name: "no flags", want: verify.SignatureKeyUnfit, says: "may not sign files",
			change: func(t *testing.T, e *pgp.Entity, sub *pgp.Subkey) {
				rebind(t, e, sub, func(b *packet.Signature) { b.FlagSign, b.FlagsValid = false, false })
			}},
		{name: "binding from the future", want: verify.SignatureKeyUnfit,
			change: func(t *testing.T, e *pgp.Entity, sub *pgp.Subkey) {
				rebind(t, e, sub, func(b *packet.Signature) { b.CreationTime = present.Add(time.Hour) })
			}},
		{name: "binding after the signature", want: verify.SignatureGood,
			change: func(t *testing.T, e *pgp.Entity, sub *pgp.Subkey) {
				rebind(t, e, sub, func(b *packet.Signature) { b.CreationTime = made.Add(time.Hour) })
			}},
		{name: "subkey expired", want: verify.SignatureKeyExpired, says: "since 2026-01-21",
			change: func(t *testing.T, e *pgp.Entity, sub *pgp.Subkey) {
				rebind(t, e, sub, func(b *packet.Signature) { b.KeyLifetimeSecs = seconds(day20) })
			}},
		{name: "subkey expired, allowed", policy: Policy{AllowExpiredKey: true}, want: verify.SignatureGood,
			change: func(t *testing.T, e *pgp.Entity, sub *pgp.Subkey) {
				rebind(t, e, sub, func(b *packet.Signature) { b.KeyLifetimeSecs = seconds(day20) })
			}},
		{name: "subkey expired before it signed", policy: Policy{AllowExpiredKey: true}, made: present,
			want: verify.SignatureKeyExpired, says: "before the signature was made",
			change: func(t *testing.T, e *pgp.Entity, sub *pgp.Subkey) {
				rebind(t, e, sub, func(b *packet.Signature) { b.KeyLifetimeSecs = seconds(day20) })
			}},
		{name: "primary key expired", want: verify.SignatureKeyExpired,
			change: func(t *testing.T, e *pgp.Entity, sub *pgp.Subkey) {
				recertify(t, e, func(s *packet.Signature) { s.KeyLifetimeSecs = seconds(day20) })
			}},
		{name: "primary key expired by its direct signature", want: verify.SignatureKeyExpired,
			change: func(t *testing.T, e *pgp.Entity, sub *pgp.Subkey) {
				limitDirectly(t, e)
			}},
		{name: "only a newer self-signature", want: verify.SignatureGood,
			change: func(t *testing.T, e *pgp.Entity, sub *pgp.Subkey) {
				recertify(t, e, func(s *packet.Signature) { s.CreationTime = made.Add(time.Hour) })
			}},
		{name: "self-signature of another key", want: verify.SignatureKeyUnfit,
			says: "the key has no valid self-signature", change: func(t *testing.T, e *pgp.Entity, sub *pgp.Subkey) {
				for _, id := range e.Identities {
					if err := id.SelfCertifications[0].Packet.SignUserId(id.Name, eve.PrimaryKey, e.PrivateKey,
						at(born)); err != nil {
						t.Fatal(err)
					}
				}
			}},
		{name: "primary key revoked", want: verify.SignatureRevoked, says: "superseded",
			change: func(t *testing.T, e *pgp.Entity, sub *pgp.Subkey) {
				if err := e.Revoke(packet.KeySuperseded, "", at(made)); err != nil {
					t.Fatal(err)
				}
			}},
		{name: "revoked by another key", want: verify.SignatureGood, change: func(t *testing.T, e *pgp.Entity, sub *pgp.Subkey) {
			if err := eve.Revoke(packet.KeyCompromised, "", at(made)); err != nil {
				t.Fatal(err)
			}
			e.Revocations, eve.Revocations = eve.Revocations, nil
		}},
		{name: "clock behind by five minutes", policy: Policy{Now: born.Add(-5 * time.Minute)}, made: born,
			want: verify.SignatureGood},
		{name: "subkey younger than the signature", sub: made.Add(time.Hour), want: verify.SignatureKeyUnfit,
			says: "made after the signature"},
		{name: "primary key younger than the signature", sub: born.Add(-2 * time.Hour), made: born.Add(-time.Hour),
			want: verify.SignatureKeyUnfit, says: "made after the signature"},
		{name: "no clock", policy: Policy{Now: time.Time{}.Add(1)}, want: verify.SignatureKeyUnfit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEntity(t, at(born))
			if tt.sub.IsZero() {
				tt.sub = born
			}
			sub := withSubkey(t, e, at(tt.sub))
			if tt.change != nil {
				tt.change(t, e, sub)
			}
			if tt.policy.Now.IsZero() {
				tt.policy.Now = present
			}
			sig := draft{made: tt.made}.by(t, sub.PrivateKey, signed)
			if got, says := verdict(sig, keyringOf(t, e), tt.policy, signed); got != tt.want || !strings.Contains(says, tt.says) {
				t.Errorf("got %v: %s\nwant %v with %s", got, says, tt.want, tt.says)
			}
		})
	}
}

// Proves rule 47 for primary keys: flags that leave signing out count, no flags at all are permission as in GnuPG.
func TestPrimaryKeyFlags_Rule47(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*packet.Signature)
		want   verify.SignatureCode
	}{
		"certifies only": {func(s *packet.Signature) { s.FlagSign = false }, verify.SignatureKeyUnfit},
		"no flags": {func(s *packet.Signature) { s.FlagSign, s.FlagCertify, s.FlagsValid = false, false, false },
			verify.SignatureGood},
	} {
		e := newEntity(t, at(born))
		recertify(t, e, tt.change)
		if got, says := verdict(draft{}.by(t, e.PrivateKey, signed), keyringOf(t, e), Policy{Now: present},
			signed); got != tt.want {
			t.Errorf("%s: got %v: %s, want %v", name, got, says, tt.want)
		}
	}
}

// Proves that version 6 keys (RFC 9580) work: each signature has a salt of its own, and the number of such hashes is limited.
func TestVersion6(t *testing.T) {
	config := at(born)
	config.V6Keys = true
	e := newEntity(t, config)
	keys := keyringOf(t, e)
	salted := func(b byte) draft { return draft{salt: slices.Repeat([]byte{b}, 16)} }
	one := salted(1).by(t, e.PrivateKey, signed)
	two := slices.Concat(one, salted(2).by(t, e.PrivateKey, signed))
	many := slices.Repeat(one, maxSalted)
	four := draft{version: 4, hash: 8}.by(t, e.PrivateKey, signed)
	for name, tt := range map[string]struct {
		sigs []byte
		file string
		want verify.SignatureCode
	}{
		"one":                    {one, signed, verify.SignatureGood},
		"two":                    {two, signed, verify.SignatureGood},
		"another file":           {one, signed + "!", verify.SignatureBad},
		"as many as are allowed": {many, signed, verify.SignatureGood},
		"too many":               {slices.Concat(many, one), signed, verify.SignatureTooLarge},
		"of version 4":           {four, signed, verify.SignatureUnsupported},
	} {
		if got, says := verdict(tt.sigs, keys,
			Policy{Now: present, Pins: []Fingerprint{fingerprint(e.PrimaryKey.Fingerprint)}}, tt.file); got != tt.want {
			t.Errorf("%s: got %v: %s, want %v", name, got, says, tt.want)
		}
	}
}

// TestSecretBehindPublic: where the content says what a file is, one that also has a secret key is refused, in each form:
// its owner has mistaken it for a public one.
func TestSecretBehindPublic(t *testing.T) {
	e, other := newEntity(t, at(born)), newEntity(t, at(born))
	public, both := publicKey(t, e), append(publicKey(t, e), secretKey(t, other)...)
	mislabelled := bytes.ReplaceAll(armorOf(t, both), []byte(signatureBlock), []byte(publicBlock))
	for name, tt := range map[string]struct {
		data    []byte
		sniffed bool
		ok      bool
	}{
		"public": {public, true, true}, "binary": {both, true, false}, "armored": {mislabelled, true, false},
		"a keyring": {both, false, true},
	} {
		_, err := Kind.NewTrust(verify.Keys{Files: []verify.KeyFile{{Name: "keys", Data: tt.data}}, Sniffed: tt.sniffed})
		if (err == nil) != tt.ok || err != nil && !strings.Contains(err.Error(), "secret key") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
