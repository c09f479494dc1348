package download_test

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
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

// TestLinkedSize: X-Linked-Etag is about another object if X-Linked-Size is not the size of the file in the same answer. In
// a redirect, the digest counts: the host that has the file must not be able to remove it by sending another size.
func TestLinkedSize(t *testing.T) {
	t.Parallel()
	content := made(mib, 7)
	other := sha256.Sum256([]byte("other"))
	linked := []mirrortest.Option{
		mirrortest.Header("X-Linked-Size", "5"), mirrortest.Header("X-Linked-Etag", `"`+hex.EncodeToString(other[:])+`"`),
	}
	own := mirrortest.New(t, content, linked...)
	if res := newRun(t, own.URL).right(own.Content); res.Proof.Verified() {
		t.Error(res.Proof)
	}
	target := mirrortest.New(t, content)
	newRun(t, mirrortest.New(t, []byte("x"), append(linked, mirrortest.Redirect(target.URL))...).URL).wrong(download.Mismatch)
}

// TestStoreMD5: the MD5 of a store finds an accident, and is no evidence.
func TestStoreMD5(t *testing.T) {
	t.Parallel()
	content := made(mib, 7)
	own, other := md5.Sum(content), md5.Sum([]byte("x"))
	for field, before := range map[string]string{"Content-Md5": "", "X-Goog-Hash": "crc32c=AAAAAA==,md5="} {
		value := func(sum [md5.Size]byte) mirrortest.Option {
			return mirrortest.Header(field, before+base64.StdEncoding.EncodeToString(sum[:]))
		}
		good := mirrortest.New(t, content, value(own))
		if res := newRun(t, good.URL).right(good.Content); res.Proof.Verified() || len(res.Proof.Evidence()) != 1 {
			t.Errorf("%s: %v", field, res.Proof)
		}
		newRun(t, mirrortest.New(t, content, value(other)).URL).wrong(download.Mismatch)
	}
}
