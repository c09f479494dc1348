package smime

import (
	"bytes"
	"crypto/x509"
	"slices"
	"strconv"
	"time"

	"braid/verify"
)

const (
	kindName = "S/MIME"
	option   = "smime-ca"
)

// Kind describes S/MIME signatures.
var Kind = &verify.SignatureKind{
	Name: kindName, Article: "an",
	Types: []string{ // RFC 8551, section 3.2
		"application/pkcs7-signature", "application/pkcs7-mime", "application/x-pkcs7-signature", "application/x-pkcs7-mime",
	},
	Beside: []string{".p7s"},
	Served: []verify.SignatureFile{
		{Ending: ".p7m", Type: "application/pkcs7-mime"}, {Ending: ".p7s", Type: "application/pkcs7-signature"},
	},
	Option: option,

	Sniff:     sniff,
	SniffKeys: sniffKeys,
	NewTrust:  newTrust,
	Read:      read,
	Describe:  func(r verify.SignatureResult) string { return r.Signer },
}

// sniff is Kind.Sniff. A message has a PEM label of neither OpenPGP nor SSH, is a mail, or begins like a SEQUENCE.
func sniff(data []byte) bool {
	text := bytes.TrimSpace(data)
	lower := bytes.ToLower(text[:min(len(text), len("content-type:"))])
	switch {
	case bytes.HasPrefix(text, []byte("-----BEGIN PGP")), bytes.HasPrefix(text, []byte("-----BEGIN SSH")):
		return false
	case bytes.HasPrefix(text, []byte("-----BEGIN ")),
		bytes.HasPrefix(lower, []byte("content-type:")), bytes.HasPrefix(lower, []byte("mime-version:")):
		return true
	}
	return len(data) > 0 && data[0] == tagSequence
}

// sniffKeys is Kind.SniffKeys. It looks for a certificate in PEM.
func sniffKeys(data []byte) bool {
	i := bytes.Index(data, []byte("-----BEGIN CERTIFICATE-----"))
	return i == 0 || i > 0 && data[i-1] == '\n'
}

// A Trust is a set of trusted certificates, of authorities or of signers.
type Trust struct{ Roots []*x509.Certificate }

// Kind implements [verify.Trust].
func (t Trust) Kind() *verify.SignatureKind { return Kind }

// Any implements [verify.Trust].
func (t Trust) Any() bool { return len(t.Roots) > 0 }

// Names implements [verify.Trust].
func (t Trust) Names() (names []string) {
	for _, c := range t.Roots {
		names = append(names, distinguishedName(c.RawSubject))
	}
	return names
}

// Pinned implements [verify.Trust]. It reports false, because a root may certify many signers.
func (t Trust) Pinned() bool { return false }

// Check implements [verify.Trust]. S/MIME has no signatures of a text, so d.Text is ignored.
func (t Trust) Check(d verify.Detached) (verify.SignatureChecker, error) {
	return New(d.Data, t.Roots, d.Now)
}

// read is Kind.Read.
func read(data []byte, now time.Time) ([]verify.SignatureResult, error) {
	c, err := New(data, nil, now)
	if err != nil {
		return nil, err
	}
	return c.Signatures()
}

// named returns the signer of r, for an error.
func named(r verify.SignatureResult) string { return r.Signer }

// newTrust is Kind.NewTrust.
func newTrust(k verify.Keys) (verify.Trust, error) {
	var t Trust
	for _, f := range k.Files {
		roots, err := ParseRoots(f.Data)
		if err != nil {
			return nil, &verify.KeyError{Option: option, Why: f.Name + ": " + err.Error(),
				Hint: "give a file of certificates in PEM"}
		}
		if i := slices.IndexFunc(roots, func(c *x509.Certificate) bool { return !c.IsCA }); k.Sniffed && i >= 0 {
			return nil, &verify.KeyError{Option: option, File: f.Name,
				Why:  strconv.Quote(distinguishedName(roots[i].RawSubject)) + " is not a certificate of an authority",
				Hint: "give the certificate of a signer with --smime-ca"}
		}
		t.Roots = append(t.Roots, roots...)
	}
	return t, nil
}
