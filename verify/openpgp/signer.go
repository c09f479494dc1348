package openpgp

import (
	"braid/verify"
	"crypto/rsa"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
	pgp "github.com/ProtonMail/go-crypto/openpgp/v2"
)

// tolerance is the allowed difference between clocks (rule 47).
const tolerance = 10 * time.Minute

const minRSABits = 2048

// A signer is a primary key or subkey that signs, or that may have made a signature.
type signer struct {
	entity *pgp.Entity
	sub    *pgp.Subkey // nil for the primary key of entity
	userID string      // of entity, quoted; set after s was found valid
}

func (s signer) public() *packet.PublicKey {
	if s.sub != nil {
		return s.sub.PublicKey
	}
	return s.entity.PrimaryKey
}

func (s signer) key() Fingerprint     { return fingerprint(s.public().Fingerprint) }
func (s signer) primary() Fingerprint { return fingerprint(s.entity.PrimaryKey.Fingerprint) }

// name sets Key and Subkey of r to the fingerprints of s.
func (s signer) name(r *verify.SignatureResult) {
	r.Key, r.Subkey = s.primary().String(), ""
	if s.sub != nil {
		r.Subkey = s.key().String()
	}
}

// fault returns why a signature of a file by s is not accepted, or nil. made is the time of the signature.
//
// The key's self-signatures are judged as of now. The library judges them as of the time of the signature, but a thief
// of the key can choose that time. Also, an export often has only the newest self-signature, which can be younger than
// the signature.
func (s signer) fault(made, now time.Time, allowExpired bool) *verify.SignatureError {
	if f := weakKey(s.entity.PrimaryKey); f != nil {
		return f
	}
	if f := weakKey(s.public()); f != nil {
		return f
	}
	at := now.Add(tolerance)
	self, f := selfSignature(s.entity, at)
	if f != nil {
		return f
	}
	ends := []time.Time{expiry(s.entity.PrimaryKey, self)}
	if direct, err := s.entity.LatestValidDirectSignature(at, nil); err == nil {
		ends = append(ends, expiry(s.entity.PrimaryKey, direct))
	}
	flags := self
	if s.sub != nil {
		if flags, f = binding(s.entity, s.sub, at); f != nil {
			return f
		}
		ends = append(ends, expiry(s.sub.PublicKey, flags))
	}
	if !maySign(flags, s.sub != nil) {
		return fail(verify.SignatureKeyUnfit, "it may not sign files")
	}
	if made.Before(s.public().CreationTime) || made.Before(s.entity.PrimaryKey.CreationTime) {
		return fail(verify.SignatureKeyUnfit, "it was made after the signature")
	}
	return expired(ends, made, now, allowExpired)
}

// weakKey returns a fault if k is so weak that its signatures could be forged.
func weakKey(k *packet.PublicKey) *verify.SignatureError {
	switch pub := k.PublicKey.(type) {
	case *rsa.PublicKey:
		if n := pub.N.BitLen(); n < minRSABits {
			return fail(verify.SignatureWeak, "its RSA key has %d bits", n)
		}
		return nil
	}
	if k.PubKeyAlgo == packet.PubKeyAlgoDSA {
		return fail(verify.SignatureWeak, "a DSA key")
	}
	return nil
}

// selfSignature returns the newest self-signature of e at the time at, or a fault if e is revoked or lacks it.
func selfSignature(e *pgp.Entity, at time.Time) (*packet.Signature, *verify.SignatureError) {
	if e.Revoked(at) {
		return nil, fail(verify.SignatureRevoked, "%s", revocationReason(e.Revocations))
	}
	self, err := e.PrimarySelfSignature(at, nil)
	if err != nil {
		return nil, fail(verify.SignatureKeyUnfit, "the key has no valid self-signature")
	}
	return self, nil
}

// binding returns the newest binding signature of sub at the time at, or a fault if sub is revoked or lacks it.
func binding(e *pgp.Entity, sub *pgp.Subkey, at time.Time) (*packet.Signature, *verify.SignatureError) {
	b, err := sub.LatestValidBindingSignature(at, nil)
	if sub.Revoked(b, at) {
		return nil, fail(verify.SignatureRevoked, "%s", revocationReason(sub.Revocations))
	}
	if err != nil {
		return nil, fail(verify.SignatureKeyUnfit, "%s", bindingFault(e, sub))
	}
	return b, nil
}

// bindingFault returns why no binding of sub is valid. A signing subkey must have signed its primary key (type 0x19,
// the back-signature). Otherwise anyone could claim the subkey of another key.
func bindingFault(e *pgp.Entity, sub *pgp.Subkey) string {
	for _, b := range sub.Bindings {
		if b.Packet.FlagSign && e.PrimaryKey.VerifyKeySignature(sub.PublicKey, b.Packet) != nil {
			return "a subkey without a valid back-signature"
		}
	}
	return "a subkey without a valid signature of its primary key"
}

// userID returns the primary user ID of e, quoted.
func userID(e *pgp.Entity, at time.Time) string {
	_, id := e.PrimaryIdentity(at, nil)
	if id == nil {
		return ""
	}
	return quote(id.Name)
}

// maySign reports whether the key flags allow signing. As in GnuPG, a primary key without flags may do everything. A
// subkey without flags may not sign, because the library checks no back-signature for it.
func maySign(flags *packet.Signature, isSubkey bool) bool {
	if !flags.FlagsValid {
		return !isSubkey
	}
	return flags.FlagSign
}

// expiry returns when k expires according to self, or the zero time if k does not expire.
func expiry(k *packet.PublicKey, self *packet.Signature) time.Time {
	if self.KeyLifetimeSecs == nil || *self.KeyLifetimeSecs == 0 {
		return time.Time{}
	}
	return k.CreationTime.Add(time.Duration(*self.KeyLifetimeSecs) * time.Second)
}

// expired returns a fault if an expiry time in ends is before made or, unless allowExpired is set, before now.
func expired(ends []time.Time, made, now time.Time, allowExpired bool) *verify.SignatureError {
	for _, end := range ends {
		switch {
		case end.IsZero():
		case now.After(end) && !allowExpired:
			return fail(verify.SignatureKeyExpired, "since %s", day(end))
		case made.After(end):
			return fail(verify.SignatureKeyExpired, "on %s, before the signature was made", day(end))
		}
	}
	return nil
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// revocationReason returns the reason and time of the first valid revocation (RFC 9580, section 5.2.3.31).
func revocationReason(revocations []*packet.VerifiableSignature) string {
	for _, r := range revocations {
		if r.Valid == nil || !*r.Valid {
			continue
		}
		s := "on " + day(r.Packet.CreationTime)
		if r.Packet.Version == 0 { // of addRevocation
			return s + ", " + r.Packet.RevocationReasonText
		}
		if r.Packet.RevocationReason != nil {
			s += ", " + reasonText(*r.Packet.RevocationReason)
		}
		if text := r.Packet.RevocationReasonText; text != "" {
			s += ": " + quote(text)
		}
		return s
	}
	return ""
}

func reasonText(r packet.ReasonForRevocation) string {
	switch r {
	case packet.KeySuperseded:
		return "superseded"
	case packet.KeyCompromised:
		return "compromised"
	case packet.KeyRetired:
		return "no longer used"
	}
	return "no reason given"
}
