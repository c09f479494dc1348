package download

import (
	"slices"

	"braid/verify"
)

// trusted says that a strong digest came from the user or over https, so that a redirect to http can do no
// harm (rule 26).
func (s *session) trusted() bool { return vouched(s.claims) || vouched(s.req.Claims) }

func vouched(claims []verify.Claim) bool { return backed(claims, verify.HTTPS, verify.User) }

// ownWord says that the evidence is the user's word, or that of somebody whom the user trusts to sign: more than anything
// that a server could say (rule 64).
func (r *Request) ownWord() bool {
	return backed(r.Claims, verify.Signed, verify.User) || len(r.Anchors.Pins) > 0
}

// lacksSignature says that the file itself has to be signed: a signature is demanded, and there is no digest from a list
// that has one.
func (r *Request) lacksSignature() bool {
	return r.Require == RequireSignature && !backed(r.Claims, verify.Signed, verify.Signed)
}

// backed says that a SHA-256 or better came over one of the channels from least to most.
func backed(claims []verify.Claim, least, most verify.Channel) bool {
	return slices.ContainsFunc(claims, func(c verify.Claim) bool {
		return c.Digest.Algorithm().Strong() && least <= c.Channel && c.Channel <= most
	})
}

// earlier are the claims of an earlier run that this one does not make itself. Whoever was trusted then to sign a list may
// not be now.
func earlier(prior, now []verify.Claim) (claims []verify.Claim) {
	for _, c := range prior {
		same := func(o verify.Claim) bool { return o.Digest == c.Digest && o.Field == c.Field }
		if slices.ContainsFunc(now, same) {
			continue
		}
		if c.Channel == verify.Signed {
			c.Channel, c.By = verify.HTTP, verify.Attestation{}
		}
		claims = append(claims, c)
	}
	return claims
}
