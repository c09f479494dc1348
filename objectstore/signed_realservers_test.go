//go:build realservers

package objectstore_test

import (
	"crypto/sha256"
	"fmt"
	"path"
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/internal/test/s3test"
	"braid/verify/openpgp"
)

// TestRealUploadSignedList_Rule78 uploads a file that has no signature, but whose server has a signed list of digests.
func TestRealUploadSignedList_Rule78(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(24*mib, 12)
	name := path.Base(mirrortest.New(t, content).URL)
	list := fmt.Appendf(nil, "%x  %s\n", sha256.Sum256(content.Bytes()), name)
	keys, sig := signedBy(t, mirrortest.ContentOf(list))
	r := newRun(t, s3test.New(t), mirrortest.New(t, content, mirrortest.Document("/SHA256SUMS", "text/plain", list),
		mirrortest.Document("/SHA256SUMS.asc", "text/plain", sig)))
	r.req.Trust.Lookup, r.req.Trust.Anchors, r.req.Trust.Require = true, download.Anchors{openpgp.Trust{Keys: keys}},
		download.RequireSignature
	if res, err := r.get(t.Context()); err != nil || !res.Proof.Signed() {
		t.Fatalf("%v, %v; %v", res.Proof, err, r.told())
	}
	r.has(content)
}
