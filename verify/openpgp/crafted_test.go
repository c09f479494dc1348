package openpgp

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
	pgp "github.com/ProtonMail/go-crypto/openpgp/v2"
)

// Proves rule 47 for signatures that gpg does not make. All of them are by the right key and of the right file.
func TestCraftedSignatures_Rule47(t *testing.T) {
	ann, eve := newEntity(t, at(born)), newEntity(t, at(born))
	keys := keyringOf(t, ann)
	keyID := func(e *pgp.Entity) []byte {
		return subpacket(subpacketKeyID, binary.BigEndian.AppendUint64(nil, e.PrimaryKey.KeyId)...)
	}
	marker, padding := packetOf(tagMarker, []byte("PGP")), packetOf(tagPadding, []byte{1, 2, 3})
	tests := []struct {
		name   string
		draft  draft
		before []byte
		after  []byte
		want   Kind
		says   string
	}{
		{name: "plain", want: Good},
		{name: "SHA3-256", draft: draft{hash: 12}, want: Good, says: "SHA3-256"},
		{name: "SHA3-512", draft: draft{hash: 14}, want: Good, says: "SHA3-512"},
		{name: "named by its key ID", draft: draft{issuer: keyID(ann)}, want: Good},
		{name: "unknown subpacket", draft: draft{hashed: subpacket(100, 1)}, want: Good},
		{name: "among packets that must be ignored", before: slices.Concat(marker, padding, packetOf(60, nil)), after: marker, want: Good},

		{name: "unknown critical subpacket", draft: draft{hashed: subpacket(critical|100, 1)}, want: Unsupported, says: "critical"},
		{name: "MD5", draft: draft{hash: 1}, want: Weak, says: "its digest is MD5"},
		{name: "unknown digest", draft: draft{hash: 99}, want: Unsupported},
		{name: "of a key", draft: draft{kind: packet.SigTypeDirectSignature}, want: NotDetached, says: "of type 0x1f"},
		{name: "of itself", draft: draft{kind: 0x02}, want: NotDetached, says: "of type 0x02"},
		{name: "a revocation", draft: draft{kind: packet.SigTypeKeyRevocation}, want: NotDetached, says: "of type 0x20"},
		{name: "a timestamp", draft: draft{kind: 0x40}, want: NotDetached, says: "of type 0x40"},
		{name: "by nobody", draft: draft{issuer: []byte{}}, want: UnknownKey, says: "does not say"},
		{name: "younger key", draft: draft{made: born.Add(-time.Second)}, want: KeyUnfit, says: "younger"},
		{name: "as old as the key", draft: draft{made: born}, want: Good},
		{
			name:  "key IDs collide, the fingerprint is another's",
			draft: draft{issuer: slices.Concat(keyID(ann), fingerprintSubpacket(eve.PrimaryKey))},
			want:  UnknownKey, says: fingerprint(eve.PrimaryKey.Fingerprint).String(),
		},
		{
			name:  "key IDs collide, the fingerprint is the right one",
			draft: draft{issuer: slices.Concat(keyID(eve), fingerprintSubpacket(ann.PrimaryKey))},
			want:  Good,
		},
		{name: "more in the packet", draft: draft{tail: []byte{0}}, want: Malformed, says: "1 bytes too many"},
		{name: "a packet in the packet", draft: draft{tail: marker}, want: Malformed},
		{name: "a byte after it", after: []byte{'\n'}, want: Malformed, says: "no OpenPGP packet"},
		{name: "half a packet after it", after: marker[:4], want: Malformed, says: "cut off"},
		{name: "a message after it", after: packetOf(11, []byte("b\x00\x00\x00\x00\x00braid\n")), want: NotDetached, says: "a signed message"},
		{name: "an encrypted message after it", after: packetOf(18, []byte{1}), want: NotDetached, says: "an encrypted message"},
		{name: "a user ID after it", after: packetOf(13, []byte("Ann")), want: NotDetached, says: "a packet of type 13"},
		{name: "an unknown packet after it", after: packetOf(39, nil), want: NotDetached, says: "a packet of type 39"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sig := slices.Concat(tt.before, tt.draft.by(t, ann.PrivateKey, signed), tt.after)
			for form, sigs := range map[string][]byte{"binary": sig, "armored": armorOf(t, sig)} {
				if got, says := verdict(sigs, keys, Policy{Now: present}, signed); got != tt.want || !strings.Contains(says, tt.says) {
					t.Errorf("%s: got %v: %s\nwant %v with %s", form, got, says, tt.want, tt.says)
				}
			}
		})
	}
}

// Proves rule 47 for what is no signature at all, and its limits.
func TestSignatureFiles_Rule47(t *testing.T) {
	ann := newEntity(t, at(born))
	keys := keyringOf(t, ann)
	sig := draft{}.by(t, ann.PrivateKey, signed)
	text := armorOf(t, sig)
	even := armorOf(t, append(sig, packetOf(60, make([]byte, 3-len(sig)%3))...)) // its base64 has no padding
	const begin, end = "-----BEGIN PGP SIGNATURE-----\n", "-----END PGP SIGNATURE-----\n"
	tests := []struct {
		name string
		file []byte
		want Kind
	}{
		{"nothing", nil, Missing},
		{"white space", []byte(" \r\n\t\n"), Missing},
		{"a page", []byte("<html>404</html>"), Malformed},
		{"a marker", packetOf(tagMarker, []byte("PGP")), NotDetached},
		{"armor around nothing", []byte(begin + "\n" + end), NotDetached},
		{"over 1 MiB", bytes.Repeat([]byte{' '}, 1<<20+1), TooLarge},
		{"1 MiB", append(bytes.Repeat([]byte{'\n'}, 1<<20-len(text)), text...), Good},
		{"100 signatures", bytes.Repeat(sig, 100), Good},
		{"101 signatures", bytes.Repeat(sig, 101), TooLarge},
		{"text before armor", slices.Concat([]byte("Hello\n"), text), Malformed},
		{"text after armor", slices.Concat(text, []byte("Bye")), Malformed},
		{"binary after armor", slices.Concat(text, sig), Malformed},
		{"armor after binary", slices.Concat(sig, text), Malformed},
		{"white space around armor", slices.Concat([]byte("\r\n \n"), text, []byte("\n\n")), Good},
		{"lines end with CR LF", bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")), Good},
		{"armor headers", bytes.Replace(text, []byte("\n\n"), []byte("\nVersion: x\nComment:\n\n"), 1), Good},
		{"a header without a colon", bytes.Replace(text, []byte("\n\n"), []byte("\nVersion 1\n\n"), 1), Malformed},
		{"no empty line", bytes.Replace(text, []byte("\n\n"), []byte("\n"), 1), Malformed},
		{"no base64", bytes.Replace(text, []byte("\n\n"), []byte("\n\n*\n"), 1), Malformed},
		{"no checksum", withoutLine(text, "\n="), Good},
		{"wrong checksum", bytes.Replace(text, text[bytes.Index(text, []byte("\n=")):][:4], []byte("\n=AA"), 1), Good},
		{"data after the checksum", bytes.Replace(even, []byte(end), []byte("/AQBAgME\n"+end), 1), Malformed}, // a packet of type 60
		{"the same before the checksum", bytes.Replace(even, []byte("\n="), []byte("\n/AQBAgME\n="), 1), Good},
		{"another end", bytes.Replace(text, []byte("END PGP SIGNATURE"), []byte("END PGP MESSAGE"), 1), Malformed},
		{"armor in armor", bytes.Replace(text, []byte("\n\n"), []byte("\n\n"+begin+"\n"), 1), Malformed},
	}
	for _, tt := range tests {
		if got, says := verdict(tt.file, keys, Policy{Now: present}, signed); got != tt.want {
			t.Errorf("%s: got %v: %s, want %v", tt.name, got, says, tt.want)
		}
	}
}

// withoutLine removes the line that mark, with the end of the line before, is the beginning of.
func withoutLine(text []byte, mark string) []byte {
	i := bytes.Index(text, []byte(mark))
	n := bytes.IndexByte(text[i+1:], '\n')
	return slices.Concat(text[:i], text[i+1+n:])
}

// Proves rule 47: a signature that is cut off anywhere does not count, in either form.
func TestTruncated_Rule47(t *testing.T) {
	made := recordings(t)
	keys, err := ParseKeyring(made["rsa.pub"])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rsa.sig", "rsa.asc"} {
		whole := bytes.TrimSpace(made[name])
		for n := range whole {
			if got, says := verdict(whole[:n], keys, Policy{Now: present}, signed); got != Malformed && (got != Missing || n > 0) {
				t.Errorf("%s: %d of %d bytes: got %v: %s", name, n, len(whole), got, says)
			}
		}
	}
}

// Proves rule 48: versions and algorithms of the future do no harm beside a signature that counts, and do not count alone.
func TestUnknownVersions_Rule48(t *testing.T) {
	ann := newEntity(t, at(born))
	keys := keyringOf(t, ann)
	good := draft{}.by(t, ann.PrivateKey, signed)
	for name, tt := range map[string]struct {
		head []byte
		want Kind
	}{
		"version 3":         {[]byte{3, 5, 0, 0}, Unsupported},
		"version 5":         {[]byte{5, 0, 27, 8}, Unsupported},
		"version 7":         {[]byte{7, 0, 27, 8}, Unsupported},
		"unknown algorithm": {[]byte{4, 0, 99, 8}, UnknownKey},
	} {
		odd := packetOf(tagSignature, append(tt.head, make([]byte, 20)...))
		got, says := verdict(slices.Concat(odd, good), keys, Policy{Now: present}, signed)
		if got != Good || !strings.Contains(says, "nobody (") {
			t.Errorf("%s: beside a good one: got %v: %s", name, got, says)
		}
		if got, says := verdict(odd, keys, Policy{Now: present}, signed); got != tt.want {
			t.Errorf("%s: alone: got %v: %s, want %v", name, got, says, tt.want)
		}
	}
	if got, says := verdict(packetOf(tagSignature, []byte{4, 0}), keys, Policy{Now: present}, signed); got != Malformed {
		t.Errorf("two bytes: got %v: %s", got, says)
	}
}
