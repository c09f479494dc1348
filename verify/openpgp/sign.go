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

// Sign makes an armored detached signature (type 0x00) of all that r has, as a Signing does.
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

// A Signing signs a file as it is read, in order, so that its digests can be made in the same pass. It belongs to one goroutine.
type Signing struct {
	key  Fingerprint
	sig  bytes.Buffer
	hash io.WriteCloser // its Close writes the signature into sig
}

// NewSigning begins a signature of the time now. The secret key is an export (gpg --export-secret-keys), armored or
// binary, of one primary key; its newest signing subkey that is good and present signs, else the primary key itself.
// The digest is SHA-512, or what the key prefers of SHA-256 and better.
//
// The error is an *Error if the key is locked, revoked, expired, weak or not there. Like any signer it draws chance, by
// the library.
func NewSigning(secretKey, passphrase []byte, now time.Time) (*Signing, error) {
	by, err := openSigner(secretKey, passphrase, now)
	if err != nil {
		return nil, about("secret key", err)
	}
	config := &packet.Config{
		Time:         func() time.Time { return now },
		DefaultHash:  crypto.SHA512,
		SigningKeyId: by.public().KeyId,
		// The library would add a random notation against faults of the processor while it signs. They can tell the key
		// only if the very same bytes are signed twice, and the time is among them.
		NonDeterministicSignaturesViaNotation: packet.BoolPointer(false),
		// chooseSigner has looked at the flags: a primary key without any may sign.
		InsecureAllowAllKeyFlagsWhenMissing: true,
	}
	s := &Signing{key: by.key()}
	s.hash, err = pgp.DetachSignWriter(&s.sig, []*pgp.Entity{by.entity}, &pgp.SignParams{Config: config})
	if err != nil {
		return nil, fmt.Errorf("signing with %v: %w", s.key, err)
	}
	return s, nil
}

// Key is the key that signs: a subkey, or the primary key.
func (s *Signing) Key() Fingerprint { return s.key }

// Write takes the next bytes of the file.
func (s *Signing) Write(b []byte) (int, error) { return s.hash.Write(b) }

// Signature is the armored detached signature (type 0x00) of what was written. It is called once, at the end.
func (s *Signing) Signature() ([]byte, error) {
	if err := s.hash.Close(); err != nil {
		return nil, fmt.Errorf("signing with %v: %w", s.key, err)
	}
	return armored(s.sig.Bytes())
}

// openSigner gives a key that can sign.
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

// readSecret reads the one secret key of an export.
func readSecret(export []byte) (*pgp.Entity, error) {
	if len(export) > verify.MaxSignature {
		return nil, fail(verify.SignatureTooLarge, "over %d bytes", verify.MaxSignature)
	}
	data := export
	if !isBinary(export) {
		blocks, _ := dearmor(export)
		i := slices.IndexFunc(blocks, func(b block) bool { return b.kind == privateBlock })
		switch {
		case len(blocks) > 1:
			return nil, fail(verify.SignatureMalformed, "several blocks of armor")
		case i < 0:
			return nil, fail(verify.SignatureUnknownKey, "no secret key in the export")
		case blocks[i].err != nil:
			return nil, fail(verify.SignatureMalformed, "%v", blocks[i].err)
		}
		data = blocks[i].data
	}
	keys, err := splitKeys(data)
	switch {
	case err != nil:
		return nil, fail(verify.SignatureMalformed, "%v", err)
	case len(keys) != 1:
		return nil, fail(verify.SignatureMalformed, "%d keys in the export, want one", len(keys))
	}
	e, err := parseEntity(keys[0])
	switch {
	case err != nil:
		return nil, fail(verify.SignatureMalformed, "%v", err)
	case e.PrivateKey == nil:
		return nil, fail(verify.SignatureUnknownKey, "no secret key in the export")
	}
	return e, nil
}

// chooseSigner takes the newest subkey that may sign now and is there, else the primary key. If there is none the error says what
// is wrong with the newest.
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
			f = fail(verify.SignatureUnknownKey, "its secret part is not in the export")
		}
		if f == nil {
			return s, nil
		}
		f.By = s.key().String()
		// That a subkey is for encryption is no news.
		if first == nil || first.Code == verify.SignatureKeyUnfit {
			first = f
		}
	}
	return signer{}, first
}

// private is the secret part of s, nil if it is not there.
func (s signer) private() *packet.PrivateKey {
	if s.sub != nil {
		return s.sub.PrivateKey
	}
	return s.entity.PrivateKey
}

// present says that the secret part is there, not a mark that it is elsewhere.
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
