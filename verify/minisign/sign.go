package minisign

import (
	"bytes"
	"crypto/ed25519"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"strings"
	"time"
	"unicode"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/scrypt"

	"braid/internal/mask"
	"braid/verify"
)

// A secret key file has two lines. The second line is base64. It contains the algorithms of signature, key derivation
// and checksum, and the salt and limits of the derivation. Then follow the id of the key, the Ed25519 key, and a
// checksum of the signature algorithm, id and key. With a passphrase, these three are XORed with the derived bytes.
const (
	saltAt     = 6
	limitsAt   = saltAt + 32
	secretAt   = limitsAt + 16
	idSize     = 8
	secretSize = secretAt + idSize + ed25519.PrivateKeySize + blake2b.Size256
	withScrypt = "Sc"
	withoutKDF = "\x00\x00"
	checksum   = "B2"
	mostMemory = 2 << 30 // bytes of memory for the derivation; minisign's default is 1 GiB
)

// A Signer signs files with a minisign secret key. It implements [verify.Signer].
type Signer struct {
	id  [idSize]byte
	key ed25519.PrivateKey
}

// NewSigner returns the Signer with the secret key in file, which minisign -G wrote. With minisign's defaults,
// unlocking a key with a passphrase takes a second and 1 GiB of memory. The error is a *verify.SignatureError.
func NewSigner(file, passphrase []byte) (*Signer, error) {
	raw, ok := decodeSecret(file)
	if !ok {
		return nil, fail(verify.SignatureMalformed, "this is not a secret key of minisign")
	}
	secret := raw[secretAt:]
	switch kdf := string(raw[2:4]); {
	case string(raw[:2]) != wholeFile || string(raw[4:6]) != checksum:
		return nil, fail(verify.SignatureUnsupported, "the secret key has an unknown format")
	case kdf == withoutKDF:
	case kdf != withScrypt:
		return nil, fail(verify.SignatureUnsupported, "the secret key has an unknown key derivation function")
	case len(passphrase) == 0:
		return nil, fail(verify.SignatureLocked, "it needs a passphrase")
	default:
		stream, err := derive(passphrase, raw)
		if err != nil {
			return nil, fail(verify.SignatureUnsupported, "%v", err)
		}
		subtle.XORBytes(secret, secret, stream)
	}
	key := secret[idSize : idSize+ed25519.PrivateKeySize]
	sum := blake2b.Sum256(append([]byte(wholeFile), secret[:idSize+ed25519.PrivateKeySize]...))
	// Without a passphrase, minisign writes no checksum.
	if string(raw[2:4]) == withScrypt && subtle.ConstantTimeCompare(sum[:], secret[idSize+ed25519.PrivateKeySize:]) != 1 {
		return nil, fail(verify.SignatureLocked, "the passphrase is wrong")
	}
	if !bytes.Equal(ed25519.NewKeyFromSeed(key[:ed25519.SeedSize]), key) {
		return nil, fail(verify.SignatureMalformed, "the secret key does not match its public key")
	}
	s := &Signer{key: bytes.Clone(key)}
	copy(s.id[:], secret)
	return s, nil
}

// sniffSecret is Kind.SniffSecret.
func sniffSecret(data []byte) bool {
	_, ok := decodeSecret(data)
	return ok
}

// decodeSecret decodes a file with a secret key. It reports false if data is not such a file.
func decodeSecret(data []byte) (raw []byte, ok bool) {
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) == 2 && strings.HasPrefix(lines[0], untrusted) {
		lines = lines[1:]
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSpace(lines[0]))
	return raw, len(lines) == 1 && err == nil && len(raw) == secretSize
}

// derive returns the bytes to XOR with the secret key, derived from passphrase and raw, the secret key file. It uses
// scrypt with the parameters that libsodium's crypto_pwhash_scryptsalsa208sha256 computes from the limits in raw.
func derive(passphrase, raw []byte) ([]byte, error) {
	operations, memory := binary.LittleEndian.Uint64(raw[limitsAt:]), binary.LittleEndian.Uint64(raw[limitsAt+8:])
	const r = 8
	operations = max(operations, 32768)
	p, most := uint64(1), operations/(r*4)
	if operations >= memory/32 {
		most = memory / (r * 128)
	}
	log := 1
	for log < 63 && uint64(1)<<log <= most/2 {
		log++
	}
	if operations >= memory/32 {
		p = min(operations/4>>log, 0x3fffffff) / r
	}
	if memory > mostMemory || uint64(1)<<log > mostMemory/(r*128) || p == 0 || p > 1<<10 {
		return nil, errors.New("the key derivation needs too much memory or time")
	}
	return scrypt.Key(passphrase, raw[saltAt:limitsAt], 1<<log, r, int(p), secretSize-secretAt)
}

// Kind implements [verify.Signer].
func (s *Signer) Kind() *verify.SignatureKind { return Kind }

// Public returns the public key.
func (s *Signer) Public() Key {
	k := Key{id: s.id}
	copy(k.public[:], s.key.Public().(ed25519.PublicKey))
	return k
}

// Key implements [verify.Signer]. It returns the public key in base64, because an id is not unique.
func (s *Signer) Key() string { return s.Public().text() }

// text returns k as in the second line of a public key file.
func (k Key) text() string {
	return base64.StdEncoding.EncodeToString(append(append([]byte(wholeFile), k.id[:]...), k.public[:]...))
}

// Begin implements [verify.Signer]. The trusted comment has the time and the name of the file. The name must not have
// control characters: a tab ends a field, and a line break ends the comment.
func (s *Signer) Begin(name string, now time.Time) (verify.Signing, error) {
	if name == "" || strings.ContainsFunc(name, unicode.IsControl) {
		return nil, fail(verify.SignatureUnsupported, "a minisign signature cannot name %s", mask.Quote(name, 100))
	}
	digest, _ := blake2b.New512(nil) // fails only with a key
	return &signing{s, digest, fmt.Sprintf("timestamp:%d\tfile:%s\thashed", now.Unix(), name)}, nil
}

// A signing computes one signature. It implements [verify.Signing].
type signing struct {
	by      *Signer
	digest  hash.Hash
	comment string
}

func (s *signing) Write(b []byte) (int, error) { return s.digest.Write(b) }

func (s *signing) Signature() ([]byte, error) {
	of := ed25519.Sign(s.by.key, s.digest.Sum(nil))
	global := ed25519.Sign(s.by.key, append(bytes.Clone(of), s.comment...))
	encode := base64.StdEncoding.EncodeToString
	return fmt.Appendf(nil, "%s verify with minisign public key %s\n%s\n%s%s\n%s\n", untrusted, s.by.Public().ID(),
		encode(append(append([]byte(prehashed), s.by.id[:]...), of...)), trusted, s.comment, encode(global)), nil
}
