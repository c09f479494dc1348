package web

import (
	"hash"
	"net/http"

	"braid/verify"
)

// A Content checks what an answer brings against what it says of it in Content-Digest (RFC 9530, section 2), before the
// content or behind it. The digest is of all that is sent: an answer that was not read to its end is not judged.
type Content struct {
	claims []verify.Claim
	hashes map[verify.Algorithm]hash.Hash
}

// NewContent begins to check the content of an answer by claims, and by those that its trailer section will have. The keys of
// trailer are the fields that the answer announces there (RFC 9110, section 6.6.2).
func NewContent(claims []verify.Claim, trailer http.Header) *Content {
	k := &Content{claims: claims, hashes: map[verify.Algorithm]hash.Hash{}}
	for _, c := range claims {
		a := c.Digest.Algorithm()
		k.hashes[a] = a.New()
	}
	if _, later := trailer["Content-Digest"]; later {
		for _, a := range verify.Algorithms() {
			if a.Strong() {
				k.hashes[a] = a.New()
			}
		}
	}
	return k
}

// End takes the claims of the trailer section of an answer that came to its end.
func (k *Content) End(claims []verify.Claim) {
	for _, c := range claims {
		if k.hashes[c.Digest.Algorithm()] != nil {
			k.claims = append(k.claims[:len(k.claims):len(k.claims)], c)
		}
	}
}

// Write takes the next bytes.
func (k *Content) Write(p []byte) {
	for _, h := range k.hashes {
		h.Write(p)
	}
}

// Wrong compares all that came with what was said, and returns the first claim that does not hold.
func (k *Content) Wrong() (got verify.Digest, want verify.Claim, wrong bool) {
	for _, c := range k.claims {
		a := c.Digest.Algorithm()
		if got, err := verify.NewDigest(a, k.hashes[a].Sum(nil)); err != nil || got != c.Digest {
			return got, c, true
		}
	}
	return got, want, false
}
