package web

import (
	"hash"
	"net/http"
	"slices"

	"braid/verify"
)

// Content checks the content of an answer against its Content-Digest field (RFC 9530, section 2), which may be in the
// header or the trailer section, and against other digests in the trailer section. The digests cover the whole content,
// so an answer that was not read to its end must not be checked.
type Content struct {
	claims []verify.Claim
	hashes map[verify.Algorithm]hash.Hash
}

// NewContent returns a Content that checks claims, and the claims that the trailer section will contain. The keys of
// trailer are the fields that the answer announces for its trailer section (RFC 9110, section 6.6.2).
func NewContent(claims []verify.Claim, trailer http.Header) *Content {
	k := &Content{claims: claims, hashes: map[verify.Algorithm]hash.Hash{}}
	for _, c := range claims {
		a := c.Digest.Algorithm()
		k.hashes[a] = a.New()
	}
	later := func(field string) bool { _, ok := trailer[field]; return ok }
	if slices.ContainsFunc([]string{"Content-Digest", "Repr-Digest", "Digest"}, later) {
		for _, a := range verify.Algorithms() {
			if a.Strong() {
				k.hashes[a] = a.New()
			}
		}
	}
	return k
}

// End adds the claims of the trailer section after the end of the content.
func (k *Content) End(claims []verify.Claim) {
	for _, c := range claims {
		if k.hashes[c.Digest.Algorithm()] != nil {
			k.claims = append(k.claims[:len(k.claims):len(k.claims)], c)
		}
	}
}

// Write adds the next bytes of the content.
func (k *Content) Write(p []byte) {
	for _, h := range k.hashes {
		h.Write(p)
	}
}

// Wrong compares the content with the claims and returns the first claim that does not match.
func (k *Content) Wrong() (got verify.Digest, want verify.Claim, wrong bool) {
	for _, c := range k.claims {
		a := c.Digest.Algorithm()
		if got, err := verify.NewDigest(a, k.hashes[a].Sum(nil)); err != nil || got != c.Digest {
			return got, c, true
		}
	}
	return got, want, false
}
