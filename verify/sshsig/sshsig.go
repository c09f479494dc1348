// Package sshsig checks signatures made by ssh-keygen -Y sign: SSH signatures of files (OpenSSH, PROTOCOL.sshsig). The
// trusted keys are in a file of public keys or of allowed signers (ssh-keygen(1), "ALLOWED SIGNERS").
//
// Only signatures in the namespace "file" are accepted. A signature of a commit or of a mail is an error.
//
//	keys, err := sshsig.ParseKeys(data)
//	checker, err := sshsig.New(signature, keys, sshsig.Policy{Now: time.Now()})
//	io.Copy(checker, file)
//	results, err := checker.Signatures()
package sshsig

import (
	"bytes"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/pem"
	"fmt"
	"hash"
	"strings"

	"golang.org/x/crypto/ssh"

	"braid/internal/mask"
	"braid/verify"
)

const (
	label     = "SSH SIGNATURE"
	namespace = "file"
	leastRSA  = 2048      // bits
	dsa       = "ssh-dss" // defined here because the constant of package ssh is deprecated
)

var magic = [6]byte([]byte("SSHSIG"))

// hashes are the digest algorithms that a signature may use for the file.
var hashes = map[string]struct {
	name string
	make func() hash.Hash
}{
	"sha256": {"SHA-256", sha256.New},
	"sha512": {"SHA-512", sha512.New},
}

// algorithms are the accepted signature algorithms: OpenSSH's algorithms without DSA and without SHA-1.
var algorithms = map[string]bool{
	ssh.KeyAlgoED25519: true, ssh.KeyAlgoSKED25519: true,
	ssh.KeyAlgoECDSA256: true, ssh.KeyAlgoECDSA384: true, ssh.KeyAlgoECDSA521: true, ssh.KeyAlgoSKECDSA256: true,
	ssh.KeyAlgoRSASHA256: true, ssh.KeyAlgoRSASHA512: true,
}

// weak are the signature algorithms with SHA-1.
var weak = map[string]bool{ssh.KeyAlgoRSA: true, dsa: true}

type signature struct {
	key      ssh.PublicKey
	hash     string // a key of hashes
	reserved string
	of       ssh.Signature
}

func parse(data []byte) (s signature, wrong *verify.SignatureError) {
	text := bytes.TrimSpace(data)
	block, rest := pem.Decode(text)
	if block == nil || block.Type != label || len(block.Headers) > 0 || len(rest) > 0 || !begins(text) {
		return s, fail(verify.SignatureMalformed, "it is not a single block of an SSH signature")
	}
	var blob struct {
		Magic                                     [6]byte
		Version                                   uint32
		Key, Namespace, Reserved, Hash, Signature string
	}
	if err := ssh.Unmarshal(block.Bytes, &blob); err != nil || blob.Magic != magic {
		return s, fail(verify.SignatureMalformed, "the block is not an SSH signature")
	}
	if blob.Version != 1 {
		return s, fail(verify.SignatureUnsupported, "version %d", blob.Version)
	}
	s.hash, s.reserved = blob.Hash, blob.Reserved
	var err error
	if s.key, err = ssh.ParsePublicKey([]byte(blob.Key)); err != nil {
		return s, fail(verify.SignatureUnsupported, "its key cannot be read")
	}
	if err := ssh.Unmarshal([]byte(blob.Signature), &s.of); err != nil {
		return s, fail(verify.SignatureMalformed, "its signature cannot be read")
	}
	if _, isCertificate := s.key.(*ssh.Certificate); isCertificate {
		return s, fail(verify.SignatureUnsupported, "it was made with a certificate")
	}
	switch _, known := hashes[s.hash]; {
	case blob.Namespace != namespace:
		return s, fail(verify.SignatureNotOfFile, "it is for the namespace %s", mask.Quote(blob.Namespace, 100))
	case weak[s.of.Format]:
		return s, fail(verify.SignatureWeak, "%s with SHA-1", mask.Quote(s.of.Format, 100))
	case !known || !algorithms[s.of.Format]:
		return s, fail(verify.SignatureUnsupported, "its algorithms are %s and %s",
			mask.Quote(s.of.Format, 100), mask.Quote(s.hash, 100))
	}
	if len(s.of.Rest) > 0 && !strings.HasPrefix(s.of.Format, "sk-") {
		return s, fail(verify.SignatureMalformed, "data follows its signature")
	}
	if n := bitsOfRSA(s.key); n > 0 && n < leastRSA {
		return s, fail(verify.SignatureWeak, "its RSA key has %d bits", n)
	}
	return s, nil
}

func begins(text []byte) bool { return bytes.HasPrefix(text, []byte("-----BEGIN "+label+"-----")) }

// bitsOfRSA returns the size of an RSA key, or 0 for a key of another algorithm.
func bitsOfRSA(k ssh.PublicKey) int {
	c, ok := k.(ssh.CryptoPublicKey)
	if !ok {
		return 0
	}
	if k, ok := c.CryptoPublicKey().(*rsa.PublicKey); ok {
		return k.N.BitLen()
	}
	return 0
}

// signs reports whether s is a signature, by the key of s, of the file with this digest.
func (s signature) signs(digest []byte) bool {
	return s.key.Verify(ssh.Marshal(struct {
		Magic                             [6]byte
		Namespace, Reserved, Hash, Digest string
	}{magic, namespace, s.reserved, s.hash, string(digest)}), &s.of) == nil
}

func (s signature) result() verify.SignatureResult {
	return verify.SignatureResult{Kind: kindName, Key: ssh.FingerprintSHA256(s.key), Hash: hashes[s.hash].name}
}

func fail(code verify.SignatureCode, format string, a ...any) *verify.SignatureError {
	return &verify.SignatureError{Code: code, Reason: fmt.Sprintf(format, a...)}
}
