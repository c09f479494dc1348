// Package signatures has the table of the kinds of signatures. A new kind is a package with a [verify.SignatureKind], and
// a row here.
//
// It refuses to know what makes one kind different from another: that is in the row.
//
//	kind := signatures.Of(data)
//	said, err := kind.Read(data, time.Now()) // who signed, by the signatures' own account
package signatures

import (
	"slices"

	"braid/verify"
	"braid/verify/minisign"
	"braid/verify/openpgp"
	"braid/verify/smime"
)

// kinds is the table. The first row takes data that is of no kind: its checker says what is wrong with it.
var kinds = []*verify.SignatureKind{
	openpgp.Kind,
	smime.Kind,
	minisign.Kind,
}

// All returns the kinds in the order of the table.
func All() []*verify.SignatureKind { return slices.Clone(kinds) }

// Of returns the kind of the signatures in data. If data is of no kind, it is the first one.
func Of(data []byte) *verify.SignatureKind {
	return either(slices.IndexFunc(kinds, func(k *verify.SignatureKind) bool { return k.Sniff(data) }))
}

func either(i int) *verify.SignatureKind { return kinds[max(i, 0)] }

// OfType returns the kind of a media type in lower case and without parameters. It reports false if that is none of signatures.
func OfType(media string) (kind *verify.SignatureKind, ok bool) {
	i := slices.IndexFunc(kinds, func(k *verify.SignatureKind) bool { return slices.Contains(k.Types, media) })
	return either(i), i >= 0
}

// OfKeys returns the kind of the keys in data, which an option names.
func OfKeys(option string, data []byte) *verify.SignatureKind {
	var rest *verify.SignatureKind
	for _, k := range kinds {
		switch {
		case k.Option != option:
		case k.SniffKeys == nil:
			rest = k
		case k.SniffKeys(data):
			return k
		}
	}
	return rest
}

// Options returns the options that name files with keys.
func Options() (names []string) {
	for _, k := range kinds {
		if !slices.Contains(names, k.Option) {
			names = append(names, k.Option)
		}
	}
	return names
}
