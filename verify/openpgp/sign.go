package openpgp

import (
	"braid/verify"
	"bytes"
	"crypto"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
	pgp "github.com/ProtonMail/go-crypto/openpgp/v2"
)

// Sign returns an armored detached signature (type 0x00) of the contents of r. See [NewSigning].
func Sign(r io.Reader, secretKey, passphrase []byte, now time.Time) ([]byte, error) {
	s, err := NewSigning(secretKey, passphrase, now)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(s, r); err != nil {
		return nil, fmt.Errorf("signing with %v: %w", s.key, err)
	}
	return s.Signature()
}

// A Signing signs a file that is written to it in order, so that digests can be computed in the same pass. It is not
// safe for concurrent use.
type Signing struct {
	key  Fingerprint
	sig  bytes.Buffer
	hash io.WriteCloser // its Close writes the signature into sig
}

// NewSigning returns a Signing that makes a signature with the time now. secretKey is an export (gpg
// --export-secret-keys), armored or binary, of one primary key. The newest valid signing subkey signs if the export has
// its secret part, otherwise the primary key signs. The digest is SHA-512, or the key's preference if that is SHA-256
// or better.
//
// The error is a *verify.SignatureError if the key is locked, revoked, expired, weak or missing. For some algorithms,
// the library uses randomness.
func NewSigning(secretKey, passphrase []byte, now time.Time) (*Signing, error) {
	by, err := openSigner(secretKey, passphrase, now)
	if err != nil {
		return nil, about("secret key", err)
	}
	config := &packet.Config{
		Time:         func() time.Time { return now },
		DefaultHash:  crypto.SHA512,
		SigningKeyId: by.public().KeyId,
		// By default the library adds a random notation as a defence against processor faults during signing. Such
		// faults reveal the key only if the same bytes are signed twice. The signed bytes contain the time.
		NonDeterministicSignaturesViaNotation: packet.BoolPointer(false),
		// chooseSigner has already checked the key flags. A primary key without flags may sign.
		InsecureAllowAllKeyFlagsWhenMissing: true,
	}
	s := &Signing{key: by.key()}
	s.hash, err = pgp.DetachSignWriter(&s.sig, []*pgp.Entity{by.entity}, &pgp.SignParams{Config: config})
	if err != nil {
		return nil, fmt.Errorf("signing with %v: %w", s.key, err)
	}
	return s, nil
}

// Key returns the signing key: a subkey or the primary key.
func (s *Signing) Key() Fingerprint { return s.key }

// Write takes the next bytes of the file.
func (s *Signing) Write(b []byte) (int, error) { return s.hash.Write(b) }

// Signature returns the armored detached signature (type 0x00) of the bytes written. It must be called only once.
func (s *Signing) Signature() ([]byte, error) {
	if err := s.hash.Close(); err != nil {
		return nil, fmt.Errorf("signing with %v: %w", s.key, err)
	}
	return armored(s.sig.Bytes())
}

// A keySigner makes signatures of files with one secret key. It implements [verify.Signer].
type keySigner struct {
	secret, passphrase []byte
	key                Fingerprint // of the signing key
}

// newKeySigner is Kind.NewSigner.
func newKeySigner(secret, passphrase []byte, now time.Time) (verify.Signer, error) {
	try, err := NewSigning(secret, passphrase, now)
	if err != nil {
		return nil, err
	}
	return keySigner{secret, passphrase, try.Key()}, nil
}

// Kind implements [verify.Signer].
func (s keySigner) Kind() *verify.SignatureKind { return Kind }

// Key implements [verify.Signer].
func (s keySigner) Key() string { return s.key.String() }

// Begin implements [verify.Signer]. An OpenPGP signature does not name its file.
func (s keySigner) Begin(_ string, now time.Time) (verify.Signing, error) {
	signing, err := NewSigning(s.secret, s.passphrase, now)
	if err != nil {
		return nil, err
	}
	return signing, nil
}

// openSigner returns the key in secretKey that signs at the time now, unlocked with passphrase.
func openSigner(secretKey, passphrase []byte, now time.Time) (signer, error) {
	e, err := readSecret(secretKey)
	if err != nil {
		return signer{}, err
	}
	s, err := chooseSigner(e, now)
	if err != nil {
		return signer{}, err
	}
	return s, s.unlock(passphrase)
}

// readSecret parses an export of one secret key.
func readSecret(export []byte) (*pgp.Entity, error) {
	if len(export) > verify.MaxSignature {
		return nil, fail(verify.SignatureTooLarge, "more than %d bytes", verify.MaxSignature)
	}
	data := export
	if !isBinary(export) {
		blocks, _ := dearmor(export)
		i := slices.IndexFunc(blocks, func(b block) bool { return b.kind == privateBlock })
		switch {
		case len(blocks) > 1:
			return nil, fail(verify.SignatureMalformed, "it has several armored blocks")
		case i < 0:
			return nil, fail(verify.SignatureUnknownKey, "no secret key in the export")
		case blocks[i].err != nil:
			return nil, fail(verify.SignatureMalformed, "%v", blocks[i].err)
		}
		data = blocks[i].data
	}
	keys, _, err := splitKeys(data)
	switch {
	case err != nil:
		return nil, fail(verify.SignatureMalformed, "%v", err)
	case len(keys) != 1:
		return nil, fail(verify.SignatureMalformed, "the export has %d keys, want one", len(keys))
	}
	e, err := Keyring{}.readEntity(keys[0])
	switch {
	case err != nil:
		return nil, fail(verify.SignatureMalformed, "%v", err)
	case e.PrivateKey == nil:
		return nil, fail(verify.SignatureUnknownKey, "no secret key in the export")
	}
	return e, nil
}

// chooseSigner returns the newest subkey that may sign now and whose secret part is present, otherwise the primary key.
// If no key qualifies, the error is the most relevant fault.
func chooseSigner(e *pgp.Entity, now time.Time) (signer, error) {
	var all []signer
	for i := range e.Subkeys {
		all = append(all, signer{entity: e, sub: &e.Subkeys[i]})
	}
	slices.SortStableFunc(all, func(a, b signer) int {
		return b.public().CreationTime.Compare(a.public().CreationTime)
	})
	all = append(all, signer{entity: e})
	var first *verify.SignatureError
	for _, s := range all {
		f := s.fault(now, now, false)
		if f == nil && !s.present() {
			f = fail(verify.SignatureUnknownKey, "its secret key is not in the export")
		}
		if f == nil {
			return s, nil
		}
		f.By = s.key().String()
		// An encryption subkey is normal and cannot sign, so the fault of any other key replaces its fault.
		if first == nil || first.Code == verify.SignatureKeyUnfit {
			first = f
		}
	}
	return signer{}, first
}

// private returns the secret part of s, or nil.
func (s signer) private() *packet.PrivateKey {
	if s.sub != nil {
		return s.sub.PrivateKey
	}
	return s.entity.PrivateKey
}

// present reports whether the export has the secret part of s, not only a placeholder for it.
func (s signer) present() bool { return s.private() != nil && !s.private().Dummy() }

func (s signer) unlock(passphrase []byte) error {
	k := s.private()
	if !k.Encrypted {
		return nil
	}
	f := fail(verify.SignatureLocked, "it needs a passphrase")
	if len(passphrase) > 0 {
		if k.Decrypt(passphrase) == nil {
			return nil
		}
		f = fail(verify.SignatureLocked, "the passphrase is wrong")
	}
	f.By = s.key().String()
	return f
}
