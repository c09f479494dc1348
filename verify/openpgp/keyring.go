package openpgp

import (
	"braid/verify"
	"bytes"
	"errors"
	"fmt"

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
}

// A certificate is an exported primary key with its subkeys and signatures. Each check parses raw again, because the
// library caches results in the parsed form.
type certificate struct {
	raw  []byte
	keys []Fingerprint // the primary key, then its subkeys
}

// ParseKeyring parses exports of public keys. Each export is binary or armored and has any number of keys and blocks.
// Text between blocks is skipped. Unreadable parts are skipped if at least one key can be read. The error is a
// *verify.SignatureError: no key could be read, or the exports exceed 64 MiB or 10,000 keys.
func ParseKeyring(exports ...[]byte) (Keyring, error) {
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
		case publicBlock:
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
// of the key in the armor. Both count from 1; 0 means unknown.
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
	raws, err := splitKeys(b.data)
	for i, raw := range raws {
		c, err := readCertificate(raw)
		if err != nil {
			k.leaveOut(b.line, i+1, err)
			continue
		}
		k.certs = append(k.certs, c)
	}
	if err == nil && len(raws) == 0 {
		err = errors.New("it has no key")
	}
	if err != nil {
		k.leaveOut(b.line, 0, err)
	}
}

// splitKeys splits a sequence of packets before each primary key. If it returns an error, keys lacks the last key,
// because a revocation of that key may be missing.
func splitKeys(data []byte) (keys [][]byte, err error) {
	var key *bytes.Buffer
	err = eachPacket(data, func(p *packet.OpaquePacket) error {
		if p.Tag == tagPublicKey || p.Tag == tagSecretKey {
			if key != nil {
				keys = append(keys, key.Bytes())
			}
			key = &bytes.Buffer{}
		}
		if key == nil {
			return errors.New("it does not begin with a key")
		}
		return p.Serialize(key)
	})
	if key != nil && err == nil {
		keys = append(keys, key.Bytes())
	}
	return keys, err
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
