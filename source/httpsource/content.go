package httpsource

import (
	"hash"

	"braid/source"
	"braid/verify"
)

// A content checks what an answer brings against what it says of it in Content-Digest (RFC 9530, section 2). The digest is of
// all that is sent: an answer that was not read to its end is not judged.
type content struct {
	claims []verify.Claim
	hashes []hash.Hash // of claims
}

// newContent begins to check the content of an answer by claims.
func newContent(claims []verify.Claim) *content {
	k := &content{claims: claims}
	for _, c := range claims {
		k.hashes = append(k.hashes, c.Digest.Algorithm().New())
	}
	return k
}

// write takes the next bytes.
func (k *content) write(p []byte) {
	for _, h := range k.hashes {
		h.Write(p)
	}
}

// judge compares all that came with what was said.
func (k *content) judge() error {
	for i, c := range k.claims {
		got, err := verify.NewDigest(c.Digest.Algorithm(), k.hashes[i].Sum(nil))
		if err != nil {
			return err
		}
		if got != c.Digest {
			return &source.ContentError{Got: got, Want: c}
		}
	}
	return nil
}
