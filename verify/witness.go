package verify

import "io"

// A Witness reads a file beside a Checker and says at the end who signed it. Packages openpgp and smime below this one
// check signatures; whoever puts them together makes a Witness of them.
type Witness interface {
	// Write takes the next bytes of the file. It never fails.
	io.Writer

	// Attest judges the bytes taken so far as the whole file. An error means that the file must not be used, whatever
	// digests say (rule 50). Without an error and without attestations nothing was validated (rule 51).
	Attest() ([]Attestation, error)
}

// An Attestation is a good signature of the file, by somebody whom the user trusts.
type Attestation struct {
	Kind   string // "OpenPGP", "S/MIME"
	From   string // where the signature is: a masked URL, a path
	Key    string // fingerprint of the key or certificate, in hexadecimal digits
	Signer string // who that says it is, quoted or otherwise safe to print; "" if it does not say
	Pinned bool   // the user named the very key
}

// String says who signed: `OpenPGP signature by 0123..., "Alice <alice@example.org>"`.
func (a Attestation) String() string {
	s := a.Kind + " signature by " + a.Key
	if a.Signer != "" {
		s += ", " + a.Signer
	}
	return s
}
