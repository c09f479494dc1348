// Package signatures has the table of signature kinds. A new kind is a package with a [verify.SignatureKind] and a row
// here. Apart from that, the package does not distinguish kinds.
//
//	kind := signatures.Of(data)
//	said, err := kind.Read(data, time.Now()) // the signers as the signatures name them; not validated
package signatures

import (
	"slices"
	"time"

	"braid/verify"
	"braid/verify/minisign"
	"braid/verify/openpgp"
	"braid/verify/signify"
	"braid/verify/smime"
	"braid/verify/sshsig"
)

// kinds is the table. Data of no kind is passed to the first kind, which then reports the fault.
var kinds = []*verify.SignatureKind{
	openpgp.Kind,
	smime.Kind,
	minisign.Kind,
	signify.Kind,
	sshsig.Kind,
}

// All returns the kinds in the order of the table. The caller must not change the slice.
func All() []*verify.SignatureKind { return slices.Clip(kinds) }

// Of returns the kind of the signatures in data, or the first kind if data is of no kind.
func Of(data []byte) *verify.SignatureKind {
	return either(slices.IndexFunc(kinds, func(k *verify.SignatureKind) bool { return k.Sniff(data) }))
}

func either(i int) *verify.SignatureKind { return kinds[max(i, 0)] }

// OfType returns the kind with the media type media, which is in lower case and without parameters. It reports false if
// no kind has that type.
func OfType(media string) (kind *verify.SignatureKind, ok bool) {
	i := slices.IndexFunc(kinds, func(k *verify.SignatureKind) bool { return slices.Contains(k.Types, media) })
	return either(i), i >= 0
}

// OfKeys returns the kind of the keys in data, a file that was given with option. If data is of no kind, OfKeys returns
// the first kind with the option.
func OfKeys(option string, data []byte) *verify.SignatureKind {
	var first *verify.SignatureKind
	for _, k := range kinds {
		switch {
		case k.Option != option:
		case k.SniffKeys(data):
			return k
		case first == nil:
			first = k
		}
	}
	return first
}

// Sniff returns the kind of the keys or certificates in data. It reports false if data has keys of no kind, or of two.
func Sniff(data []byte) (kind *verify.SignatureKind, ok bool) {
	for _, k := range kinds {
		switch {
		case !k.SniffKeys(data):
		case kind != nil:
			return nil, false
		default:
			kind = k
		}
	}
	return kind, kind != nil
}

// NewSigner unlocks a secret key of any kind; now is the time of signing. A key of no known kind is passed to the first
// kind, which reports the fault. The error is a *verify.SignatureError.
func NewSigner(secret, passphrase []byte, now time.Time) (verify.Signer, error) {
	signs := func(k *verify.SignatureKind) bool { return k.SniffSecret != nil && k.SniffSecret(secret) }
	return either(slices.IndexFunc(kinds, signs)).NewSigner(secret, passphrase, now)
}

// Options returns the names of the options for key files, without duplicates.
func Options() (names []string) {
	for _, k := range kinds {
		if !slices.Contains(names, k.Option) {
			names = append(names, k.Option)
		}
	}
	return names
}
