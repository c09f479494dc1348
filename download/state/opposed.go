package state

import (
	"net/url"
	"os"

	"braid/verify"
)

var opposed = kind{folder: "opposed", most: 10_000, old: year, due: "000"}

// An opposedRecord has digests that were published beside the file of a URL.
type opposedRecord struct {
	V      int
	Claims []opposedClaim
}

type opposedClaim struct {
	Algorithm, Hex, Field string
	Channel               verify.Channel
}

// Opposed returns what KeepOpposed recorded for u.
func (s *Store) Opposed(u *url.URL) (claims []verify.Claim) {
	var r opposedRecord
	if name, ok := s.pinName(u); ok {
		s.get(opposed, name, &r)
	}
	for _, c := range r.Claims {
		a, _ := verify.ParseAlgorithm(c.Algorithm)
		if d, err := verify.ParseHex(a, c.Hex); err == nil {
			claims = append(claims, verify.Claim{Digest: d, Field: c.Field, Channel: min(c.Channel, verify.HTTPS)})
		}
	}
	return claims
}

// KeepOpposed records the digests published beside the file of u, which contradict that of a host to which u redirects.
// Without claims, it removes the record.
func (s *Store) KeepOpposed(u *url.URL, claims []verify.Claim) {
	name, ok := s.pinName(u)
	if !ok || !s.writes(opposed) {
		return
	}
	if len(claims) == 0 {
		os.Remove(s.path(opposed, name))
		return
	}
	r := opposedRecord{V: format}
	for _, c := range claims {
		r.Claims = append(r.Claims, opposedClaim{c.Digest.Algorithm().String(), c.Digest.Hex(), c.Field, c.Channel})
	}
	s.put(opposed, name, r)
}
