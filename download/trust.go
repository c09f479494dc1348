package download

import (
	"slices"

	"braid/verify"
)

func vouched(claims []verify.Claim) bool { return backed(claims, verify.HTTPS, verify.User) }

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
			c.Channel, c.By = verify.HTTP, verify.SignatureResult{}
		}
		claims = append(claims, c)
	}
	return claims
}
