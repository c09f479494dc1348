package openpgp

import (
	"bytes"
	"cmp"
	"fmt"
	"time"

	"braid/verify"
)

const (
	kindName = "OpenPGP"
	option   = "keyring"
	pgpType  = "application/pgp-signature" // RFC 3156, section 5
)

// Kind describes OpenPGP signatures.
var Kind = &verify.SignatureKind{
	Name: kindName, Article: "an",
	Types:  []string{pgpType},
	Beside: []string{".asc", ".sig", ".gpg", ".sign"},
	Served: []verify.SignatureFile{{Ending: ".asc", Type: pgpType}, {Ending: ".sig", Type: pgpType}},
	Option: option,

	Sniff:     func(data []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(data), []byte("-----BEGIN PGP")) },
	SniffKeys: sniffKeys,
	NewTrust:  newTrust,

	SniffSecret: func(data []byte) bool { return false }, // the first kind gets data that no kind recognizes
	NewSigner:   newKeySigner,
	Read:        read,
	Describe: func(r verify.SignatureResult) string {
		return fmt.Sprintf("%s, %s, %s", r.Signer, r.Time.UTC().Format(time.DateOnly), r.Hash)
	},
}

// sniffKeys is Kind.SniffKeys. It looks for an armored block, or a packet, with a key (RFC 9580, section 4.2).
func sniffKeys(data []byte) bool {
	for _, label := range []string{"-----BEGIN PGP PUBLIC KEY BLOCK-----", "-----BEGIN PGP PRIVATE KEY BLOCK-----"} {
		if i := bytes.Index(data, []byte(label)); i == 0 || i > 0 && data[i-1] == '\n' {
			return true
		}
	}
	const public, oldPublic = 0xC0 | 6, 0x80 | 6<<2
	return len(data) > 0 && (data[0] == public || data[0]&^3 == oldPublic)
}

// A Trust is the set of keys that the user trusts. Without Pins, all keys in Keys are accepted.
type Trust struct {
	Keys Keyring
	Pins []Fingerprint
	// AllowExpiredKey is for archives; see [Policy].
	AllowExpiredKey bool
}

// Kind implements [verify.Trust].
func (t Trust) Kind() *verify.SignatureKind { return Kind }

// Any implements [verify.Trust].
func (t Trust) Any() bool { return t.Keys.Len() > 0 || len(t.Pins) > 0 }

// Names implements [verify.Trust].
func (t Trust) Names() (names []string) {
	for _, c := range t.Keys.certs {
		names = append(names, c.keys[0].String())
	}
	return names
}

// Pinned implements [verify.Trust].
func (t Trust) Pinned() bool { return len(t.Pins) > 0 }

// Check implements [verify.Trust].
func (t Trust) Check(d verify.Detached) (verify.SignatureChecker, error) {
	return New(d.Data, t.Keys, Policy{Now: d.Now, Pins: t.Pins, AllowExpiredKey: t.AllowExpiredKey, Text: d.Text})
}

// read is Kind.Read.
func read(data []byte, now time.Time) ([]verify.SignatureResult, error) {
	c, err := New(data, Keyring{}, Policy{Now: now})
	if err != nil {
		return nil, err
	}
	return c.Signatures()
}

// named returns the fingerprint of the key that made r, for an error.
func named(r verify.SignatureResult) string { return cmp.Or(r.Subkey, r.Key) }

// newTrust is Kind.NewTrust. If k has a single file, an error names that file.
func newTrust(k verify.Keys) (verify.Trust, error) {
	t := Trust{AllowExpiredKey: k.AllowExpired}
	var exports [][]byte
	for _, f := range k.Files {
		if k.Sniffed && hasSecret(f.Data) {
			return nil, &verify.KeyError{Option: option, File: f.Name,
				Why:  "it contains a secret key, but only public keys are allowed",
				Hint: "export only the public key with gpg --export FINGERPRINT"}
		}
		exports = append(exports, f.Data)
	}
	var err error
	if t.Keys, err = parseKeyring(k.Part, exports...); err != nil {
		wrong := &verify.KeyError{Option: option, Why: err.Error()}
		if len(k.Files) == 1 {
			wrong.File, wrong.Hint = k.Files[0].Name, "export the public keys with gpg --export FINGERPRINT"
		}
		if _, other := parseKeyring(true, exports...); other == nil { // only the key of a revocation is missing
			wrong.Hint = "also give the key that it revokes, which gpg --export FINGERPRINT exports"
		}
		return nil, wrong
	}
	for _, word := range k.Pins {
		f, err := ParseFingerprint(word)
		if err != nil {
			return nil, &verify.KeyError{Option: "pin", Why: err.Error(), Hint: "list the fingerprints with gpg --fingerprint"}
		}
		t.Pins = append(t.Pins, f)
	}
	if len(t.Pins) > 0 && t.Keys.Len() == 0 {
		return nil, &verify.KeyError{
			Option: "pin", Why: "selects a key, but no file of keys is given", Hint: "give a file of keys with --keyring FILE",
		}
	}
	return t, nil
}
