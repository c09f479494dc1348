package openpgp

import (
	"braid/verify"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
	pgp "github.com/ProtonMail/go-crypto/openpgp/v2"
)

func TestSign(t *testing.T) {
	for name, config := range map[string]*packet.Config{
		"Ed25519":           {Algorithm: packet.PubKeyAlgoEd25519},
		"Ed25519 of old":    {Algorithm: packet.PubKeyAlgoEdDSA},
		"P-384":             {Algorithm: packet.PubKeyAlgoECDSA, Curve: packet.CurveNistP384},
		"RSA":               {Algorithm: packet.PubKeyAlgoRSA, RSABits: 2048},
		"Ed25519 version 6": {Algorithm: packet.PubKeyAlgoEd25519, V6Keys: true},
	} {
		config.Time = at(born).Time
		e := newEntity(t, config)
		keys := keyringOf(t, e)
		sig, err := Sign(strings.NewReader(signed), secretKey(t, e), nil, made)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, says := verdict(sig, keys, Policy{Now: present}, signed)
		if got != verify.SignatureGood || !strings.Contains(says, moment(made)) {
			t.Errorf("%s: got %v: %s", name, got, says)
		}
		if got, says := verdict(sig, keys, Policy{Now: present}, signed+"!"); got != verify.SignatureBad {
			t.Errorf("%s: another file: got %v: %s", name, got, says)
		}
	}
}

// A primary key without flags may sign, as it may be checked; and what is signed twice at one time is one signature.
func TestSignWithoutFlags(t *testing.T) {
	e := newEntity(t, at(born))
	recertify(t, e, func(s *packet.Signature) { s.FlagSign, s.FlagCertify, s.FlagsValid = false, false, false })
	one, err := Sign(strings.NewReader(signed), secretKey(t, e), nil, made)
	if err != nil {
		t.Fatal(err)
	}
	two, err := Sign(strings.NewReader(signed), armoredSecret(t, e), nil, made)
	if err != nil || !bytes.Equal(one, two) {
		t.Errorf("two signatures differ: %v\n%s%s", err, one, two)
	}
}

// A file may come in parts, and the key is told before the first of them.
func TestSigning(t *testing.T) {
	e := newEntity(t, at(born))
	s, err := NewSigning(secretKey(t, e), nil, made)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{signed[:3], "", signed[3:]} {
		if n, err := io.WriteString(s, part); n != len(part) || err != nil {
			t.Errorf("wrote %d bytes of %q, %v", n, part, err)
		}
	}
	sig, err := s.Signature()
	if err != nil {
		t.Fatal(err)
	}
	got, says := verdict(sig, keyringOf(t, e), Policy{Now: present, Pins: []Fingerprint{s.Key()}}, signed)
	if got != verify.SignatureGood {
		t.Errorf("got %v: %s", got, says)
	}
	// What is wrong with a key is said before any byte is read.
	if _, err := NewSigning(secretKey(t, e), nil, born.Add(-24*time.Hour)); err == nil {
		t.Error("a key signs before it is born")
	}
}

func armoredSecret(t *testing.T, e *pgp.Entity) []byte {
	t.Helper()
	return bytes.ReplaceAll(armorOf(t, secretKey(t, e)), []byte(signatureBlock), []byte(privateBlock))
}

// The newest subkey that may sign does; what it prefers of the strong digests is taken.
func TestSignChooses(t *testing.T) {
	e := newEntity(t, at(born))
	older := withSubkey(t, e, at(born.Add(2*time.Hour))).PublicKey.Fingerprint
	withSubkey(t, e, at(born.Add(time.Hour)))
	expired := withSubkey(t, e, at(born.Add(3*time.Hour)))
	rebind(t, e, expired, func(b *packet.Signature) { b.KeyLifetimeSecs = seconds(60) })
	revoked := withSubkey(t, e, at(born.Add(4*time.Hour)))
	if err := revoked.Revoke(packet.KeyRetired, "", at(born.Add(5*time.Hour))); err != nil {
		t.Fatal(err)
	}
	withSubkey(t, e, at(present))
	for _, tt := range []struct {
		prefers []byte
		want    string
	}{
		{[]byte{2, 8, 9, 10}, "SHA-512"},
		{[]byte{9, 8}, "SHA-256"},
		{[]byte{2, 1}, "SHA-256"},
		{nil, "SHA-256"},
	} {
		recertify(t, e, func(s *packet.Signature) { s.PreferredHash = tt.prefers })
		sig, err := Sign(strings.NewReader(signed), secretKey(t, e), nil, made)
		if err != nil {
			t.Fatal(err)
		}
		c, err := New(sig, keyringOf(t, e), Policy{Now: made})
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, signed)
		all, err := c.Signatures()
		if s, _ := verify.GoodSignature(all); err != nil || s.Subkey != fingerprint(older).String() || s.Hash != tt.want {
			t.Errorf("got %v, %v; want %v with %s", all, err, older, tt.want)
		}
	}
}

func TestSignRefuses(t *testing.T) {
	ann := newEntity(t, at(born))
	locked := newEntity(t, at(born))
	if err := locked.EncryptPrivateKeys([]byte("open sesame"), nil); err != nil {
		t.Fatal(err)
	}
	expired := newEntity(t, &packet.Config{Time: at(born).Time, Algorithm: packet.PubKeyAlgoEd25519, KeyLifetimeSecs: 60})
	revoked := newEntity(t, at(born))
	if err := revoked.Revoke(packet.KeyCompromised, "stolen", at(born)); err != nil {
		t.Fatal(err)
	}
	short := newEntity(t, &packet.Config{Time: at(born).Time, RSABits: 1024, MinRSABits: 1024})
	subkeyExpired := newEntity(t, at(born))
	recertify(t, subkeyExpired, func(s *packet.Signature) { s.FlagSign = false })
	rebind(t, subkeyExpired, withSubkey(t, subkeyExpired, at(born)),
		func(b *packet.Signature) { b.KeyLifetimeSecs = seconds(60) })

	tests := []struct {
		name       string
		key        []byte
		passphrase string
		want       verify.SignatureCode
		says       string
	}{
		{"locked", secretKey(t, locked), "", verify.SignatureLocked, "it needs a passphrase"},
		{"wrong passphrase", secretKey(t, locked), "close sesame", verify.SignatureLocked, "the passphrase is wrong"},
		{"right passphrase", secretKey(t, locked), "open sesame", verify.SignatureGood, ""},
		{"expired", secretKey(t, expired), "", verify.SignatureKeyExpired,
			"secret key " + fingerprint(expired.PrimaryKey.Fingerprint).String() + ": key expired: since 2026-01-01"},
		{"revoked", secretKey(t, revoked), "", verify.SignatureRevoked, `compromised: "stolen"`},
		{"weak", secretKey(t, short), "", verify.SignatureWeak, "1024 bits"},
		{"its signing subkey has expired", secretKey(t, subkeyExpired), "", verify.SignatureKeyExpired, "since 2026-01-01"},
		{"public", publicKey(t, ann), "", verify.SignatureUnknownKey, "no secret key"},
		{"public, armored", recordings(t)["rsa.pub"], "", verify.SignatureUnknownKey, "no secret key"},
		{"two keys", slices.Concat(secretKey(t, ann), secretKey(t, locked)), "", verify.SignatureMalformed,
			"the export has 2 keys"},
		{"cut off", secretKey(t, ann)[:100], "", verify.SignatureMalformed, "truncated"},
		{"garbage", []byte("hello"), "", verify.SignatureUnknownKey, "no secret key"},
		{"nothing", nil, "", verify.SignatureUnknownKey, "no secret key"},
		{"too large", make([]byte, verify.MaxSignature+1), "", verify.SignatureTooLarge, "more than 1048576 bytes"},
	}
	for _, tt := range tests {
		sig, err := Sign(strings.NewReader(signed), tt.key, []byte(tt.passphrase), made)
		var e *verify.SignatureError
		switch {
		case tt.want == verify.SignatureGood:
			if err != nil || len(sig) == 0 {
				t.Errorf("%s: %v", tt.name, err)
			}
		case !errors.As(err, &e) || e.Code != tt.want || !strings.Contains(e.Error(), tt.says) || sig != nil:
			t.Errorf("%s: got %q, %v; want %v with %s", tt.name, sig, err, tt.want, tt.says)
		}
	}
	broken := errors.New("broken")
	if sig, err := Sign(iotest.ErrReader(broken), secretKey(t, ann), nil, made); !errors.Is(err, broken) || sig != nil {
		t.Errorf("a file that cannot be read: %q, %v", sig, err)
	}
}

// A subkey whose secret part is elsewhere is passed over.
func TestSignWithoutTheNewestSubkey(t *testing.T) {
	e := newEntity(t, at(born))
	old := withSubkey(t, e, at(born)).PublicKey.Fingerprint
	export := bytes.NewBuffer(secretKey(t, e))
	newest := withSubkey(t, e, at(born.Add(time.Hour)))
	if err := newest.Serialize(export, false); err != nil {
		t.Fatal(err)
	}
	sig, err := Sign(strings.NewReader(signed), export.Bytes(), nil, made)
	if err != nil {
		t.Fatal(err)
	}
	if got, says := verdict(sig, keyringOf(t, e), Policy{Now: present, Pins: []Fingerprint{fingerprint(old)}},
		signed); got != verify.SignatureGood {
		t.Errorf("got %v: %s", got, says)
	}
	e.Subkeys, e.PrivateKey = []pgp.Subkey{}, nil
	var f *verify.SignatureError
	if _, err := chooseSigner(e, made); !errors.As(err, &f) || f.Code != verify.SignatureUnknownKey {
		t.Errorf("without any secret part: %v", err)
	}
}
