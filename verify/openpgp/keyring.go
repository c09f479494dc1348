package openpgp

import (
	"braid/verify"
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
	pgp "github.com/ProtonMail/go-crypto/openpgp/v2"
)

const (
	maxKeyring = 64 << 20
	maxKeys    = 10_000
)

// A Keyring is a set of keys that the user trusts. It is immutable and safe for concurrent use. The zero value is
// empty.
type Keyring struct {
	certs  []certificate
	unread []error // why parts of the exports could not be used, and where
	loose  []revocation
}

// A certificate is an exported primary key with its subkeys and signatures. Each check parses raw again, because the
// library caches results in the parsed form.
type certificate struct {
	raw  []byte
	keys []Fingerprint // the primary key, then its subkeys
}

// ParseKeyring parses exports of public keys. Each export is binary or armored and has any number of keys and blocks.
// Text between blocks is skipped. Unreadable parts are skipped if at least one key can be read. A revocation of a
// primary key may be anywhere in the exports, also in an armored block alone, except behind another key. The error is a
// *verify.SignatureError: no key could be read, exports has a revocation without its key, or the exports exceed 64 MiB
// or 10,000 keys.
func ParseKeyring(exports ...[]byte) (Keyring, error) { return parseKeyring(false, exports...) }

// parseKeyring is like ParseKeyring. If part is set, it ignores revocations of keys that are missing in exports.
func parseKeyring(part bool, exports ...[]byte) (Keyring, error) {
	var k Keyring
	total := 0
	for _, export := range exports {
		if total += len(export); total > maxKeyring {
			return Keyring{}, about("keyring", fail(verify.SignatureTooLarge, "more than %d bytes", maxKeyring))
		}
		k.readExport(export)
		if len(k.certs) > maxKeys {
			return Keyring{}, about("keyring", fail(verify.SignatureTooLarge, "more than %d keys", maxKeys))
		}
	}
	if len(k.certs) == 0 && len(k.unread) > 0 {
		return Keyring{}, about("keyring", fail(verify.SignatureMalformed, "%v", k.unread[0]))
	}
	if err := k.join(part); err != nil {
		return Keyring{}, about("keyring", fail(verify.SignatureMalformed, "%v", err))
	}
	return k, nil
}

// Len returns the number of primary keys, including duplicates.
func (k Keyring) Len() int { return len(k.certs) }

func (k *Keyring) readExport(export []byte) {
	switch {
	case isKeybox(export):
		k.leaveOut(0, 0, errors.New("this is a keybox of GnuPG: export the keys with gpg --export"))
		return
	case isBinary(export):
		k.readBlock(block{data: export})
		return
	}
	blocks, _ := dearmor(export)
	for _, b := range blocks {
		switch b.kind {
		case publicBlock, signatureBlock: // some programs write a revocation as a signature
		case privateBlock:
			b.err = errSecret
		default:
			b.err = fmt.Errorf("it is not a key, but %s", describeBlock(b.kind))
		}
		k.readBlock(b)
	}
	if len(blocks) == 0 {
		k.leaveOut(0, 0, errors.New("it has no OpenPGP key"))
	}
}

var errSecret = errors.New("this is a secret key: give the public one (gpg --export)")

// hasSecret reports whether export contains a secret key or subkey anywhere.
func hasSecret(export []byte) (has bool) {
	blocks := []block{{data: export}}
	if !isBinary(export) {
		blocks, _ = dearmor(export)
	}
	for _, b := range blocks {
		eachPacket(b.data, func(p *packet.OpaquePacket) error {
			has = has || p.Tag == tagSecretKey || p.Tag == tagSecretSubkey
			return nil
		})
	}
	return has
}

// isKeybox reports whether export is GnuPG's internal key file, which is not in OpenPGP format.
func isKeybox(export []byte) bool { return len(export) >= 12 && string(export[8:12]) == "KBXf" }

// leaveOut records err for an unusable part of an export. The armor of the part begins at line, and key is the number
// of the key in the armor. Both are numbered from 1; 0 means unknown.
func (k *Keyring) leaveOut(line, key int, err error) {
	if key > 0 {
		err = fmt.Errorf("key %d: %w", key, err)
	}
	if line > 0 {
		err = fmt.Errorf("line %d: %w", line, err)
	}
	k.unread = append(k.unread, err)
}

func (k *Keyring) readBlock(b block) {
	if b.err != nil {
		k.leaveOut(b.line, 0, b.err)
		return
	}
	raws, alone, err := splitKeys(b.data)
	for i, raw := range raws {
		c, err := readCertificate(raw)
		if err != nil {
			k.leaveOut(b.line, i+1, err)
			k.loose = append(k.loose, revocationsOf(raw)...)
			continue
		}
		k.certs = append(k.certs, c)
	}
	for _, p := range alone {
		k.loose = append(k.loose, revocation{of: issuerOf(p.Contents), packet: p})
	}
	if err == nil && len(raws)+len(alone) == 0 {
		err = errors.New("it has no key")
	}
	if err != nil {
		k.leaveOut(b.line, 0, err)
	}
}

// splitKeys splits a sequence of packets before each primary key. In keys, each primary key is followed by its
// revocations, because the library skips them elsewhere. The revocations before the first key are in alone. If splitKeys
// returns an error, keys lacks the last key, because a revocation of that key may be missing.
func splitKeys(data []byte) (keys [][]byte, alone []*packet.OpaquePacket, err error) {
	var key, rest bytes.Buffer
	end := func() {
		if key.Len() > 0 {
			keys = append(keys, slices.Concat(key.Bytes(), rest.Bytes()))
		}
		key.Reset()
		rest.Reset()
	}
	err = eachPacket(data, func(p *packet.OpaquePacket) error {
		switch {
		case p.Tag == tagPublicKey || p.Tag == tagSecretKey:
			end()
			return p.Serialize(&key)
		case p.Tag == tagMarker || p.Tag == tagPadding || p.Tag >= firstIgnorable:
			return nil // the library skips the signatures behind padding
		case isKeyRevocation(p) && key.Len() == 0:
			alone = append(alone, p)
			return nil
		case isKeyRevocation(p):
			return p.Serialize(&key)
		case key.Len() == 0 && p.Tag == tagSignature:
			return errors.New("it is not a key, but a signature")
		case key.Len() == 0:
			return errors.New("it does not begin with a key")
		}
		return p.Serialize(&rest)
	})
	if err == nil {
		end()
	}
	return keys, alone, err
}

func readCertificate(raw []byte) (certificate, error) {
	e, err := parseEntity(raw)
	if err != nil {
		return certificate{}, err
	}
	if e.PrivateKey != nil {
		return certificate{}, errSecret
	}
	c := certificate{raw: raw, keys: []Fingerprint{fingerprint(e.PrimaryKey.Fingerprint)}}
	for _, s := range e.Subkeys {
		c.keys = append(c.keys, fingerprint(s.PublicKey.Fingerprint))
	}
	return c, nil
}

func parseEntity(raw []byte) (*pgp.Entity, error) {
	return pgp.ReadEntity(packet.NewReader(bytes.NewReader(raw)))
}
