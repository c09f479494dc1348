package download_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
)

// TestStoreDigest: a digest that a store sends in a field of its own, on its redirect, proves the file and
// refutes another one. The target of the redirect has no say.
func TestStoreDigest(t *testing.T) {
	t.Parallel()
	content := made(mib, 7)
	sum := sha256.Sum256(content)
	linked := func(to string) []mirrortest.Option {
		return []mirrortest.Option{
			mirrortest.Redirect(to), mirrortest.Header("X-Linked-Size", strconv.Itoa(mib)),
			mirrortest.Header("X-Linked-Etag", `"`+hex.EncodeToString(sum[:])+`"`),
		}
	}
	good := mirrortest.New(t, content)
	r := newRun(t, mirrortest.New(t, []byte("x"), linked(good.URL)...).URL)
	r.req.Trust.Require = download.RequireDigest
	if res := r.right(good.Content); res.Proof.String() != "sha-256 from X-Linked-Etag over http" {
		t.Error(res.Proof)
	}
	other := made(mib, 8)
	own := sha256.Sum256(other)
	bad := mirrortest.New(t, other, mirrortest.Header("X-Checksum-Sha256", hex.EncodeToString(own[:])))
	newRun(t, mirrortest.New(t, []byte("x"), linked(bad.URL)...).URL).wrong(download.Mismatch)
}
