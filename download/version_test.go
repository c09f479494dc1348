package download_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/metalink"
	"braid/verify"
)

// A release is a version of a file and of the document about it, which is at another path.
type release struct {
	version
	document []byte
}

// A releasing server has two releases: the old one until its first answer with the file broke off, which is
// when the document was requested, and the new one from then on.
type releasing struct {
	*changing
	files, documents atomic.Int32
	asked            chan struct{} // closed when the document was requested
}

// newReleasing starts the server. If hangs, the answer with the old document never comes.
func newReleasing(t *testing.T, old, next release, hangs bool) *releasing {
	s := &releasing{asked: make(chan struct{})}
	old.until = s.asked
	var once sync.Once
	s.changing = newChanging(t, func(_ int, req *http.Request) version {
		if req.URL.Path == "/file.bin" {
			if s.files.Add(1) == 1 {
				return old.version
			}
			return next.version
		}
		if s.documents.Add(1) > 1 {
			return version{body: next.document}
		}
		v := version{body: old.document}
		if hangs {
			v.hang = req.Context().Done()
		}
		once.Do(func() { close(s.asked) })
		return v
	})
	return s
}

// Proves rules 34 and 47: the signature of the old version does not count against the new one, neither as a
// bad one nor as an answer that was cut off.
func TestChangedWithItsSignature_Rule34_Rule47(t *testing.T) {
	t.Parallel()
	alice := newSigner(t, "alice")
	signed := func(seed uint64) release {
		v := file(4*mib, seed)
		v.link = pgpLink
		return release{v, alice.sign(t, v.body)}
	}
	old, next := signed(1), signed(2)
	old.cut = 2 * mib
	for name, hangs := range map[string]bool{"it came before the change": false, "it was being fetched": true} {
		for _, require := range []download.Require{download.RequireDigest, download.RequireSignature} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newReleasing(t, old, next, hangs)
				r := newRun(t, s.URL+"/file.bin")
				r.req.Trust.Anchors, r.req.Trust.Require = trusts(t, alice), require
				res, err := r.get()
				if err != nil || !res.Proof.Signed() || !res.Proof.Verified() {
					t.Fatalf("%v, %v", res.Proof, err)
				}
				r.holds(r.path(), string(next.body))
			})
		}
	}
}

// Proves rule 34: pieces of the old version do not count against a mirror with the new one.
func TestChangedWithItsPieces_Rule34(t *testing.T) {
	t.Parallel()
	const size = 16 * mib
	mirror := mirrortest.New(t, made(size, 2), mirrortest.Digest())
	described := func(seed uint64) release {
		v := file(size, seed)
		v.link = meta4Link + ", <" + mirror.URL + ">; rel=duplicate"
		return release{v, document(t, metalink.File{
			Name: "file.bin", Size: size, Claims: []verify.Claim{{Digest: sum(t, v.body)}},
			Pieces: []verify.Pieces{piecesOf(t, v.body)},
		})}
	}
	old, next := described(1), described(2)
	old.cut, next.cut = mib, mib // the rest must come from the mirror
	r := newRun(t, newReleasing(t, old, next, false).URL+"/file.bin")
	r.client.Tries = 3
	res, err := r.get()
	if err != nil || !res.Proof.Verified() {
		t.Fatalf("%v, %v", res.Proof, err)
	}
	r.holds(r.path(), string(next.body))
	useful(t, res, mirror)
	for _, e := range saw[download.SourceDown](r) {
		if strings.Contains(e.Err.Error(), "wrong bytes") {
			t.Errorf("a source of the new version is blamed: %v", e.Err)
		}
	}
}

// Proves rule 34: a digest that HEAD gave for the old version does not count against the new one.
func TestChangedAfterHead_Rule34(t *testing.T) {
	t.Parallel()
	old, next := file(4*mib, 1), file(4*mib, 2)
	var heads atomic.Int32
	s := newChanging(t, func(_ int, req *http.Request) version {
		v := old
		if req.Method == http.MethodHead && heads.Add(1) > 1 || req.Method == http.MethodGet && heads.Load() > 0 {
			v = next
		}
		v.link = `<http://127.0.0.1:1/file.bin>; rel=duplicate`
		if req.Method == http.MethodGet {
			v.digest = ""
		}
		return v
	})
	r := newRun(t, s.URL+"/file.bin")
	res, err := r.get()
	if err != nil || !res.Proof.Verified() {
		t.Fatalf("%v, %v", res.Proof, err)
	}
	r.holds(r.path(), string(next.body))
}

// Proves rules 34 and 15: if nothing ties two answers together and the download starts over, a new size
// suffices to show that the signature is of another version.
func TestChangedSizeWithItsSignature_Rule34_Rule15(t *testing.T) {
	t.Parallel()
	alice := newSigner(t, "alice")
	plain := func(size int64, seed uint64) release {
		return release{version{body: made(size, seed)}, alice.sign(t, made(size, seed))}
	}
	old, next := plain(4*mib, 1), plain(3*mib, 2)
	old.cut = 2 * mib
	s := newReleasing(t, old, next, false)
	r := newRun(t, s.URL+"/file.bin")
	r.req.Trust.Anchors, r.req.Trust.Require = trusts(t, alice), download.RequireSignature
	r.req.Trust.Signatures = []download.Signature{{From: "file.bin.asc", URL: parse(t, s.URL+"/file.bin.asc")}}
	if res, err := r.get(); err != nil || !res.Proof.Signed() {
		t.Fatalf("%v, %v", res.Proof, err)
	}
	r.holds(r.path(), string(next.body))
}
