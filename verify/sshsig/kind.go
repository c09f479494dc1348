package sshsig

import (
	"bytes"
	"time"

	"golang.org/x/crypto/ssh"

	"braid/internal/mask"
	"braid/verify"
)

const (
	kindName = "SSH"
	option   = "keyring"
)

// Kind describes SSH signatures.
var Kind = &verify.SignatureKind{
	Name: kindName, Article: "an",
	Types:  []string{"application/x-ssh-signature"}, // no type is registered
	Beside: []string{".sig"},
	Option: option,

	Sniff:     func(data []byte) bool { return begins(bytes.TrimSpace(data)) },
	SniffKeys: sniffKeys,
	NewTrust:  newTrust,
	Read: func(data []byte, _ time.Time) ([]verify.SignatureResult, error) {
		c, err := New(data, nil, Policy{})
		if err != nil {
			return nil, err
		}
		return c.Signatures()
	},
	Describe: func(r verify.SignatureResult) string { return "key " + r.Key },
}

// sniffKeys is Kind.SniffKeys. It accepts a private key, because ParseKeys has a clear error for it. It also accepts
// text that has the name of an algorithm as a field of a line. OpenPGP keys have no such lines.
func sniffKeys(data []byte) bool {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("-----BEGIN OPENSSH PRIVATE KEY-----")) {
		return true
	}
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		for _, field := range bytes.Fields(line[:min(len(line), 4096)]) {
			if isAlgorithm(string(field)) {
				return true
			}
		}
	}
	return false
}

// A Trust is the set of the keys that the user chose to trust.
type Trust struct {
	Keys         []Key
	AllowExpired bool
}

// Kind implements [verify.Trust].
func (t Trust) Kind() *verify.SignatureKind { return Kind }

// Any implements [verify.Trust].
func (t Trust) Any() bool { return len(t.Keys) > 0 }

// Names implements [verify.Trust].
func (t Trust) Names() (names []string) {
	for _, k := range t.Keys {
		name := ssh.FingerprintSHA256(k.public)
		if k.signer != "" {
			name += ", " + mask.Quote(k.signer, 200)
		}
		names = append(names, name)
	}
	return names
}

// Pinned implements [verify.Trust].
func (t Trust) Pinned() bool { return len(t.Keys) > 0 }

// Check implements [verify.Trust]. SSH has no signatures of a text, so d.Text is ignored.
func (t Trust) Check(d verify.Detached) (verify.SignatureChecker, error) {
	return New(d.Data, t.Keys, Policy{Now: d.Now, AllowExpired: t.AllowExpired})
}

// newTrust is Kind.NewTrust. Pins name OpenPGP keys and exclude all other keys, so they are an error here.
func newTrust(k verify.Keys) (verify.Trust, error) {
	t := Trust{AllowExpired: k.AllowExpired}
	for _, f := range k.Files {
		keys, err := ParseKeys(f.Data)
		switch {
		case err != nil:
			return nil, &verify.KeyError{Option: option, File: f.Name, Why: err.Error(),
				Hint: "give a public key such as id_ed25519.pub, or a file of allowed signers (man ssh-keygen)"}
		case len(k.Pins) > 0:
			return nil, &verify.KeyError{Option: "pin",
				Why: "selects an OpenPGP key, but " + f.Name + " has SSH keys"}
		}
		t.Keys = append(t.Keys, keys...)
	}
	return t, nil
}
