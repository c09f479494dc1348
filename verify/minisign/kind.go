package minisign

import (
	"bytes"
	"fmt"
	"time"

	"braid/verify"
)

const (
	kindName = "minisign"
	option   = "keyring"
)

// Kind describes minisign signatures.
var Kind = &verify.SignatureKind{
	Name: kindName, Article: "a",
	Types:  []string{"application/x-minisign"}, // no type is registered
	Beside: []string{".minisig"},
	Served: []verify.SignatureFile{{Ending: ".minisig", Type: "application/x-minisign"}},
	Option: option,

	Sniff:     func(data []byte) bool { return begins(data) && bytes.Contains(data, []byte("\n"+trusted)) },
	SniffKeys: sniffKeys,
	NewTrust:  newTrust,

	SniffSecret: sniffSecret,
	NewSigner: func(secret, passphrase []byte, _ time.Time) (verify.Signer, error) {
		s, err := NewSigner(secret, passphrase)
		if err != nil {
			return nil, err
		}
		return s, nil
	},
	Read: func(data []byte, _ time.Time) ([]verify.SignatureResult, error) {
		c, err := New(data, nil, nil)
		if err != nil {
			return nil, err
		}
		return c.Signatures()
	},
	Describe: func(r verify.SignatureResult) string {
		if r.Time.IsZero() {
			return "key " + r.Key
		}
		return fmt.Sprintf("key %s, %s", r.Key, r.Time.UTC().Format(time.DateOnly))
	},
}

func begins(data []byte) bool { return bytes.HasPrefix(data, []byte(untrusted)) }

// sniffKeys is Kind.SniffKeys. It accepts a key file with a comment, or a key in base64 without a comment. Key files of
// signify have the same form, but their comments end in "public key" or "secret key".
func sniffKeys(data []byte) bool {
	text := bytes.TrimSpace(data)
	if i := bytes.Index(append([]byte("\n"), text...), []byte("\n"+untrusted)); i >= 0 {
		comment, _, _ := bytes.Cut(text[i:], []byte("\n"))
		return bytes.Contains(comment, []byte("minisign")) || !bytes.HasSuffix(bytes.TrimSpace(comment), []byte(" key"))
	}
	return len(text) == (keySize+2)/3*4 && !bytes.ContainsAny(text, " \n")
}

// A Trust is the set of the keys that the user chose to trust.
type Trust struct{ Keys []Key }

// Kind implements [verify.Trust].
func (t Trust) Kind() *verify.SignatureKind { return Kind }

// Any implements [verify.Trust].
func (t Trust) Any() bool { return len(t.Keys) > 0 }

// Names implements [verify.Trust].
func (t Trust) Names() (names []string) {
	for _, k := range t.Keys {
		names = append(names, k.ID())
	}
	return names
}

// Pinned implements [verify.Trust].
func (t Trust) Pinned() bool { return len(t.Keys) > 0 }

// Check implements [verify.Trust]. Minisign has no signatures of a text, so d.Text is ignored.
func (t Trust) Check(d verify.Detached) (verify.SignatureChecker, error) {
	return New(d.Data, t.Keys, d.Names)
}

// newTrust is Kind.NewTrust. Pins name OpenPGP keys and exclude all other keys, so they are an error here.
func newTrust(k verify.Keys) (verify.Trust, error) {
	var t Trust
	for _, f := range k.Files {
		key, err := ParseKey(f.Data)
		switch {
		case err != nil:
			return nil, &verify.KeyError{Option: option, File: f.Name, Why: err.Error(),
				Hint: "give the public key, which minisign -G writes to minisign.pub"}
		case len(k.Pins) > 0:
			return nil, &verify.KeyError{Option: "pin",
				Why: "selects an OpenPGP key, but " + f.Name + " is a key of minisign"}
		}
		t.Keys = append(t.Keys, key)
	}
	return t, nil
}
