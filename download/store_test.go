package download_test

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"braid/download"
	"braid/download/state"
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

// TestStoreMD5InPlace: the MD5 of a store shows that an existing file is another file, and does not prove one.
func TestStoreMD5InPlace_Rule3(t *testing.T) {
	t.Parallel()
	content, damaged := made(mib, 7), made(mib, 8)
	own := md5.Sum(content)
	s := mirrortest.New(t, content, mirrortest.Modified(monday), mirrortest.Header("Content-Md5",
		base64.StdEncoding.EncodeToString(own[:])))
	for name, change := range map[string]func(r *download.Request){
		"by default": func(*download.Request) {},
		"continued":  func(r *download.Request) { r.IfExists.Continue = true },
	} {
		r := newRun(t, s.URL)
		change(&r.req)
		r.put(damaged)
		if e := r.fails(download.Local); !strings.Contains(e.Error(), "from Content-Md5") {
			t.Errorf("%s: %v", name, e)
		}
		r.holds(r.path(), string(damaged))
	}
	r := newRun(t, s.URL)
	r.put(content)
	if e := r.fails(download.Local); !strings.Contains(e.Error(), "nothing proves") {
		t.Error(e)
	}
	r.req.IfExists.IfNewer = true
	for _, there := range [][]byte{content, damaged} {
		r.put(there)
		if err := os.Chtimes(r.path(), monday, monday); err != nil {
			t.Fatal(err)
		}
		res := r.right(s.Content)
		if good := &there[0] == &content[0]; res.NotModified != good || res.Proof.Verified() {
			t.Errorf("newer, right %v: %+v", good, res)
		}
	}
}

// TestStoreMD5Known: the MD5 of a store is compared with an existing file whose digest the caller does not know.
func TestStoreMD5Known(t *testing.T) {
	t.Parallel()
	content, damaged := made(mib, 7), made(mib, 8)
	own := md5.Sum(content)
	deaf := func(r *http.Request) bool { // the server ignores the condition
		r.Header.Del("If-None-Match")
		r.Header.Del("If-Modified-Since")
		return false
	}
	s := mirrortest.New(t, content, mirrortest.When(deaf), mirrortest.ETag(`"v1"`), mirrortest.Modified(monday),
		mirrortest.Header("Content-Md5", base64.StdEncoding.EncodeToString(own[:])))
	for _, there := range [][]byte{content, damaged} {
		r := newRun(t, s.URL)
		r.put(there)
		r.req.IfExists.IfNewer, r.req.IfExists.Known = true, &state.Version{ETag: `"v1"`, LastModified: monday}
		if res := r.right(s.Content); res.NotModified != (&there[0] == &content[0]) {
			t.Errorf("%+v", res)
		}
	}
}

// TestStoreMD5Stream: the MD5 of a store is compared with a stream.
func TestStoreMD5Stream(t *testing.T) {
	t.Parallel()
	content := made(mib, 7)
	own, other := md5.Sum(content), md5.Sum([]byte("x"))
	for _, sum := range [][md5.Size]byte{own, other} {
		s := mirrortest.New(t, content, mirrortest.Header("Content-Md5", base64.StdEncoding.EncodeToString(sum[:])))
		res, err := newRun(t, s.URL).stream(io.Discard)
		if good := sum == own; good && (err != nil || res.Proof.Verified()) || !good && kindOfError(err) != download.Mismatch {
			t.Errorf("right %v: %v, %v", good, res.Proof, err)
		}
	}
}
