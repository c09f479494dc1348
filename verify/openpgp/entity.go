package openpgp

import (
	"bytes"
	"slices"

	pgp "github.com/ProtonMail/go-crypto/openpgp/v2"
)

// A shelf caches the parsed keys of a keyring during one check.
type shelf struct {
	keys   Keyring
	parsed map[Fingerprint]*pgp.Entity // by primary key
}

// find returns the keys in the keyring that i identifies.
func (s shelf) find(i issuer) (signers []signer) {
	var done []Fingerprint
	for _, c := range s.keys.certs {
		primary := c.keys[0]
		if !slices.ContainsFunc(c.keys, i.names) || slices.Contains(done, primary) {
			continue
		}
		done = append(done, primary)
		if s.parsed[primary] == nil {
			s.parsed[primary] = s.keys.parse(primary)
		}
		signers = append(signers, signersOf(s.parsed[primary], i)...)
	}
	return signers
}

// parse parses all exports of the key primary in k, and merges them.
func (k Keyring) parse(primary Fingerprint) (all *pgp.Entity) {
	for _, c := range k.certs {
		if c.keys[0] != primary {
			continue
		}
		e, err := k.readEntity(c.raw)
		switch {
		case err != nil:
			panic("openpgp: a key cannot be parsed again: " + err.Error())
		case all == nil:
			all = e
		default:
			merge(all, e)
		}
	}
	return all
}

// merge adds the signatures, identities and subkeys of b to a. b is another export of the key of a. A revocation in any
// export applies.
func merge(a, b *pgp.Entity) {
	a.Revocations = append(a.Revocations, b.Revocations...)
	a.DirectSignatures = append(a.DirectSignatures, b.DirectSignatures...)
	for name, id := range b.Identities {
		known, ok := a.Identities[name]
		if !ok {
			id.Primary = a
			a.Identities[name] = id
			continue
		}
		known.SelfCertifications = append(known.SelfCertifications, id.SelfCertifications...)
		known.Revocations = append(known.Revocations, id.Revocations...)
	}
	for _, sub := range b.Subkeys {
		mergeSubkey(a, sub)
	}
}

func mergeSubkey(a *pgp.Entity, sub pgp.Subkey) {
	for i := range a.Subkeys {
		known := &a.Subkeys[i]
		if bytes.Equal(known.PublicKey.Fingerprint, sub.PublicKey.Fingerprint) {
			known.Bindings = append(known.Bindings, sub.Bindings...)
			known.Revocations = append(known.Revocations, sub.Revocations...)
			return
		}
	}
	sub.Primary = a
	a.Subkeys = append(a.Subkeys, sub)
}

// signersOf returns the keys of e that i identifies.
func signersOf(e *pgp.Entity, i issuer) (signers []signer) {
	if i.names(fingerprint(e.PrimaryKey.Fingerprint)) {
		signers = append(signers, signer{entity: e})
	}
	for n := range e.Subkeys {
		if i.names(fingerprint(e.Subkeys[n].PublicKey.Fingerprint)) {
			signers = append(signers, signer{entity: e, sub: &e.Subkeys[n]})
		}
	}
	return signers
}
