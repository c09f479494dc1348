package openpgp

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"hash"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/ed25519"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	pgp "github.com/ProtonMail/go-crypto/openpgp/v2"
)

// at is a configuration of the library that makes Ed25519 keys at a time.
func at(t time.Time) *packet.Config {
	return &packet.Config{
		Time:      func() time.Time { return t },
		Algorithm: packet.PubKeyAlgoEd25519,
	}
}

func newEntity(t testing.TB, config *packet.Config) *pgp.Entity {
	t.Helper()
	e, err := pgp.NewEntity("Ann", "", "ann@example.org", config)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// withSubkey gives an entity one signing subkey, after the one for encryption.
func withSubkey(t testing.TB, e *pgp.Entity, config *packet.Config) *pgp.Subkey {
	t.Helper()
	if err := e.AddSigningSubkey(config); err != nil {
		t.Fatal(err)
	}
	return &e.Subkeys[len(e.Subkeys)-1]
}

func publicKey(t testing.TB, e *pgp.Entity) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := e.Serialize(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func secretKey(t testing.TB, e *pgp.Entity) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := e.SerializePrivateWithoutSigning(&b, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func keyringOf(t testing.TB, all ...*pgp.Entity) Keyring {
	t.Helper()
	var exports [][]byte
	for _, e := range all {
		exports = append(exports, publicKey(t, e))
	}
	k, err := ParseKeyring(exports...)
	if err != nil || len(k.unread) > 0 {
		t.Fatal(err, k.unread)
	}
	return k
}

// A draft is a signature packet that is assembled by hand, so that it can have what no library writes. The mathematics are right:
// whoever does not look at the rest accepts it.
type draft struct {
	version byte
	kind    packet.SignatureType
	hash    byte
	salt    []byte // version 6
	hashed  []byte // subpackets after the creation time and the issuer
	issuer  []byte // subpacket, instead of the key's fingerprint
	made    time.Time
	tail    []byte // within the packet, after its end
}

// subpacket writes one (RFC 9580, section 5.2.3.7). Bit 7 of its type says that it is critical.
func subpacket(kind byte, content ...byte) []byte {
	return append([]byte{byte(len(content) + 1), kind}, content...)
}

const critical = 0x80

func fingerprintSubpacket(k *packet.PublicKey) []byte {
	return subpacket(subpacketFingerprint, append([]byte{byte(k.Version)}, k.Fingerprint...)...)
}

func (d draft) newHash() hash.Hash {
	if d.hash == 1 {
		return md5.New()
	}
	if known := digests[d.hash]; known.new != nil {
		return known.new()
	}
	return digests[8].new()
}

// by signs a file with k.
func (d draft) by(t testing.TB, k *packet.PrivateKey, file string) []byte {
	t.Helper()
	if d.version == 0 {
		d.version = byte(k.Version)
	}
	if d.hash == 0 {
		d.hash = 8
	}
	if d.made.IsZero() {
		d.made = made
	}
	if d.issuer == nil {
		d.issuer = fingerprintSubpacket(&k.PublicKey)
	}
	var stamp [4]byte
	binary.BigEndian.PutUint32(stamp[:], uint32(d.made.Unix()))
	area := append(subpacket(2, stamp[:]...), append(d.issuer, d.hashed...)...)
	body := append([]byte{d.version, byte(d.kind), byte(k.PubKeyAlgo), d.hash}, d.length(len(area))...)
	body = append(body, area...)

	h := d.newHash()
	h.Write(d.salt)
	h.Write([]byte(file))
	h.Write(body)
	h.Write(binary.BigEndian.AppendUint32([]byte{d.version, 0xff}, uint32(len(body))))
	sum := h.Sum(nil)
	sig, err := ed25519.Sign(k.PrivateKey.(*ed25519.PrivateKey), sum)
	if err != nil {
		t.Fatal(err)
	}

	body = append(body, d.length(0)...)
	body = append(body, sum[:2]...)
	if d.version == 6 {
		body = append(append(body, byte(len(d.salt))), d.salt...)
	}
	return packetOf(tagSignature, append(append(body, sig...), d.tail...))
}

func (d draft) length(n int) []byte {
	if d.version == 6 {
		return binary.BigEndian.AppendUint32(nil, uint32(n))
	}
	return binary.BigEndian.AppendUint16(nil, uint16(n))
}

func packetOf(tag byte, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0xc0 | tag, 0xff}, uint32(len(body))), body...)
}

func armorOf(t testing.TB, sig []byte) []byte {
	t.Helper()
	a, err := armored(sig)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
