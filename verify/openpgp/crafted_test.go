package openpgp

import (
	"braid/verify"
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
		want   verify.SignatureCode
		says   string
	}{
		{name: "plain", want: verify.SignatureGood},
		{name: "SHA3-256", draft: draft{hash: 12}, want: verify.SignatureGood, says: "SHA3-256"},
		{name: "SHA3-512", draft: draft{hash: 14}, want: verify.SignatureGood, says: "SHA3-512"},
		{name: "named by its key ID", draft: draft{issuer: keyID(ann)}, want: verify.SignatureGood},
		{name: "unknown subpacket", draft: draft{hashed: subpacket(100, 1)}, want: verify.SignatureGood},
		{name: "among packets that must be ignored", before: slices.Concat(marker, padding, packetOf(60, nil)),
			after: marker, want: verify.SignatureGood},

		{name: "unknown critical subpacket", draft: draft{hashed: subpacket(critical|100, 1)},
			want: verify.SignatureUnsupported, says: "critical"},
		{name: "MD5", draft: draft{hash: 1}, want: verify.SignatureWeak, says: "its digest is MD5"},
		{name: "unknown digest", draft: draft{hash: 99}, want: verify.SignatureUnsupported},
		{name: "of a key", draft: draft{kind: packet.SigTypeDirectSignature}, want: verify.SignatureNotOfFile,
			says: "its type is 0x1f"},
		{name: "of itself", draft: draft{kind: 0x02}, want: verify.SignatureNotOfFile, says: "its type is 0x02"},
		{name: "a revocation", draft: draft{kind: packet.SigTypeKeyRevocation}, want: verify.SignatureNotOfFile,
			says: "its type is 0x20"},
		{name: "a timestamp", draft: draft{kind: 0x40}, want: verify.SignatureNotOfFile, says: "its type is 0x40"},
		{name: "by nobody", draft: draft{issuer: []byte{}}, want: verify.SignatureUnknownKey, says: "does not name its key"},
		{name: "younger key", draft: draft{made: born.Add(-time.Second)}, want: verify.SignatureKeyUnfit,
			says: "made after the signature"},
		{name: "as old as the key", draft: draft{made: born}, want: verify.SignatureGood},
		{
			name:  "key IDs collide, the fingerprint is another's",
			draft: draft{issuer: slices.Concat(keyID(ann), fingerprintSubpacket(eve.PrimaryKey))},
			want:  verify.SignatureUnknownKey, says: fingerprint(eve.PrimaryKey.Fingerprint).String(),
		},
		{
			name:  "key IDs collide, the fingerprint is the right one",
			draft: draft{issuer: slices.Concat(keyID(eve), fingerprintSubpacket(ann.PrimaryKey))},
			want:  verify.SignatureGood,
		},
		{name: "more in the packet", draft: draft{tail: []byte{0}}, want: verify.SignatureMalformed, says: "1 bytes too many"},
		{name: "a packet in the packet", draft: draft{tail: marker}, want: verify.SignatureMalformed},
		{name: "a byte after it", after: []byte{'\n'}, want: verify.SignatureMalformed, says: "not an OpenPGP packet"},
		{name: "half a packet after it", after: marker[:4], want: verify.SignatureMalformed, says: "truncated"},
		{name: "a message after it", after: packetOf(11, []byte("b\x00\x00\x00\x00\x00braid\n")),
			want: verify.SignatureNotOfFile, says: "a signed message"},
		{name: "an encrypted message after it", after: packetOf(18, []byte{1}), want: verify.SignatureNotOfFile,
			says: "an encrypted message"},
		{name: "a user ID after it", after: packetOf(13, []byte("Ann")), want: verify.SignatureNotOfFile,
			says: "a packet of type 13"},
		{name: "an unknown packet after it", after: packetOf(39, nil), want: verify.SignatureNotOfFile,
			says: "a packet of type 39"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sig := slices.Concat(tt.before, tt.draft.by(t, ann.PrivateKey, signed), tt.after)
			for form, sigs := range map[string][]byte{"binary": sig, "armored": armorOf(t, sig)} {
				if got, says := verdict(sigs, keys, Policy{Now: present}, signed); got != tt.want ||
					!strings.Contains(says, tt.says) {
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
		want verify.SignatureCode
	}{
		{"nothing", nil, verify.SignatureMissing},
		{"white space", []byte(" \r\n\t\n"), verify.SignatureMissing},
		{"a page", []byte("<html>404</html>"), verify.SignatureMalformed},
		{"a marker", packetOf(tagMarker, []byte("PGP")), verify.SignatureNotOfFile},
		{"armor around nothing", []byte(begin + "\n" + end), verify.SignatureNotOfFile},
		{"over 1 MiB", bytes.Repeat([]byte{' '}, 1<<20+1), verify.SignatureTooLarge},
		{"1 MiB", append(bytes.Repeat([]byte{'\n'}, 1<<20-len(text)), text...), verify.SignatureGood},
		{"100 signatures", bytes.Repeat(sig, 100), verify.SignatureGood},
		{"101 signatures", bytes.Repeat(sig, 101), verify.SignatureTooLarge},
		{"text before armor", slices.Concat([]byte("Hello\n"), text), verify.SignatureMalformed},
		{"text after armor", slices.Concat(text, []byte("Bye")), verify.SignatureMalformed},
		{"binary after armor", slices.Concat(text, sig), verify.SignatureMalformed},
		{"armor after binary", slices.Concat(sig, text), verify.SignatureMalformed},
		{"white space around armor", slices.Concat([]byte("\r\n \n"), text, []byte("\n\n")), verify.SignatureGood},
		{"lines end with CR LF", bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")), verify.SignatureGood},
		{"armor headers", bytes.Replace(text, []byte("\n\n"), []byte("\nVersion: x\nComment:\n\n"), 1), verify.SignatureGood},
		{"a header without a colon", bytes.Replace(text, []byte("\n\n"), []byte("\nVersion 1\n\n"), 1),
			verify.SignatureMalformed},
		{"no empty line", bytes.Replace(text, []byte("\n\n"), []byte("\n"), 1), verify.SignatureMalformed},
		{"no base64", bytes.Replace(text, []byte("\n\n"), []byte("\n\n*\n"), 1), verify.SignatureMalformed},
		{"no checksum", withoutLine(text, "\n="), verify.SignatureGood},
		{"wrong checksum", bytes.Replace(text, text[bytes.Index(text, []byte("\n=")):][:4], []byte("\n=AA"), 1),
			verify.SignatureGood},
		// a packet of type 60
		{"data after the checksum", bytes.Replace(even, []byte(end), []byte("/AQBAgME\n"+end), 1), verify.SignatureMalformed},
		{"the same before the checksum", bytes.Replace(even, []byte("\n="), []byte("\n/AQBAgME\n="), 1), verify.SignatureGood},
		{"another end", bytes.Replace(text, []byte("END PGP SIGNATURE"), []byte("END PGP MESSAGE"), 1),
			verify.SignatureMalformed},
		{"armor in armor", bytes.Replace(text, []byte("\n\n"), []byte("\n\n"+begin+"\n"), 1), verify.SignatureMalformed},
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
			if got, says := verdict(whole[:n], keys, Policy{Now: present}, signed); got != verify.SignatureMalformed &&
				(got != verify.SignatureMissing || n > 0) {
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
		want verify.SignatureCode
	}{
		"version 3":         {[]byte{3, 5, 0, 0}, verify.SignatureUnsupported},
		"version 5":         {[]byte{5, 0, 27, 8}, verify.SignatureUnsupported},
		"version 7":         {[]byte{7, 0, 27, 8}, verify.SignatureUnsupported},
		"unknown algorithm": {[]byte{4, 0, 99, 8}, verify.SignatureUnknownKey},
	} {
		odd := packetOf(tagSignature, append(tt.head, make([]byte, 20)...))
		got, says := verdict(slices.Concat(odd, good), keys, Policy{Now: present}, signed)
		if got != verify.SignatureGood || !strings.Contains(says, "an unnamed key (") {
			t.Errorf("%s: beside a good one: got %v: %s", name, got, says)
		}
		if got, says := verdict(odd, keys, Policy{Now: present}, signed); got != tt.want {
			t.Errorf("%s: alone: got %v: %s, want %v", name, got, says, tt.want)
		}
	}
	if got, says := verdict(packetOf(tagSignature, []byte{4, 0}), keys, Policy{Now: present},
		signed); got != verify.SignatureMalformed {
		t.Errorf("two bytes: got %v: %s", got, says)
	}
}
