package httpsource

import (
	"hash"
	"net/http"

	"braid/source"
	"braid/verify"
)

// A content checks what an answer brings against what it says of it in Content-Digest (RFC 9530, section 2), before the content or
// behind it. The digest is of all that is sent: an answer that was not read to its end is not judged.
type content struct {
	claims []verify.Claim
	hashes map[verify.Algorithm]hash.Hash
}

// newContent begins to check the content of an answer by claims, and by those that its trailer section will have. The keys of
// trailer are the fields that the answer announces there (RFC 9110, section 6.6.2).
func newContent(claims []verify.Claim, trailer http.Header) *content {
	k := &content{claims: claims, hashes: map[verify.Algorithm]hash.Hash{}}
	for _, c := range claims {
		a := c.Digest.Algorithm()
		k.hashes[a] = a.New()
	}
	if _, later := trailer["Content-Digest"]; later {
		for _, a := range []verify.Algorithm{verify.SHA256, verify.SHA512} {
			k.hashes[a] = a.New()
		}
	}
	return k
}

// end takes the claims of the trailer section of an answer that came to its end.
func (k *content) end(claims []verify.Claim) {
	for _, c := range claims {
		if k.hashes[c.Digest.Algorithm()] != nil {
			k.claims = append(k.claims[:len(k.claims):len(k.claims)], c)
		}
	}
}

// write takes the next bytes.
func (k *content) write(p []byte) {
	for _, h := range k.hashes {
		h.Write(p)
	}
}

// judge compares all that came with what was said.
func (k *content) judge() error {
	for _, c := range k.claims {
		a := c.Digest.Algorithm()
		got, err := verify.NewDigest(a, k.hashes[a].Sum(nil))
		if err != nil {
			return err
		}
		if got != c.Digest {
			return &source.ContentError{Got: got, Want: c}
		}
	}
	return nil
}
