package signify

import (
	"bytes"
	"strings"
	"time"

	"braid/verify"
)

const (
	kindName = "signify"
	option   = "keyring"
)

// Kind describes signify signatures.
var Kind = &verify.SignatureKind{
	Name: kindName, Article: "a",
	Types:  []string{"application/x-signify"}, // no type is registered
	Beside: []string{".sig"},
	Option: option,

	Sniff:     sniff,
	SniffKeys: sniffKeys,
	NewTrust:  newTrust,
	Read: func(data []byte, _ time.Time) ([]verify.SignatureResult, error) {
		c, err := New(data, nil)
		if err != nil {
			return nil, err
		}
		return c.Signatures()
	},
	Describe: func(r verify.SignatureResult) string { return "key " + r.Key },
}

// sniff is Kind.Sniff. It rejects signatures of minisign, which have a trusted comment as the third line.
func sniff(data []byte) bool {
	_, raw, rest, ok := split(data)
	return ok && len(raw) == signatureSize && !bytes.HasPrefix(rest, []byte("trusted comment: "))
}

// sniffKeys is Kind.SniffKeys. Keys of minisign have the same form and differ only in the comment. They must not be
// accepted, because the first of the two signatures of minisign is also a good signature of signify. Signify's comment
// ends in "public key" or "secret key". Minisign's comment has the word minisign, or ends in the key's id.
func sniffKeys(data []byte) bool {
	text := bytes.TrimSpace(data)
	i := bytes.Index(append([]byte("\n"), text...), []byte("\n"+untrusted))
	if i < 0 {
		return false
	}
	comment, _, _, _ := split(text[i:])
	return !strings.Contains(comment, "minisign") && strings.HasSuffix(comment, " key")
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

// Check implements [verify.Trust]. Signify signs a text unchanged, so d.Text is ignored.
func (t Trust) Check(d verify.Detached) (verify.SignatureChecker, error) { return New(d.Data, t.Keys) }

// newTrust is Kind.NewTrust. Pins name OpenPGP keys and exclude all other keys, so they are an error here.
func newTrust(k verify.Keys) (verify.Trust, error) {
	var t Trust
	for _, f := range k.Files {
		key, err := ParseKey(f.Data)
		switch {
		case err != nil:
			return nil, &verify.KeyError{Option: option, File: f.Name, Why: err.Error(),
				Hint: "give the public key, which signify -G writes to the file after -p"}
		case len(k.Pins) > 0:
			return nil, &verify.KeyError{Option: "pin",
				Why: "selects an OpenPGP key, but " + f.Name + " is a key of signify"}
		}
		t.Keys = append(t.Keys, key)
	}
	return t, nil
}
