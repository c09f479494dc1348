package download_test

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"braid/download"
	"braid/internal/partfile"
	"braid/internal/test/mirrortest"
	"braid/verify"
)

func TestSmallFiles(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 1, 2, 100_000} {
		for name, options := range map[string][]mirrortest.Option{
			"length": nil, "chunked": {mirrortest.Chunked()}, "until close": {mirrortest.UntilClose()},
		} {
			mirror := sized(t, size)
			origin := vouch(t, size, mirror)
			origin.Set(options...)
			res := newRun(t, origin.URL).right(origin.Content)
			verified(t, res, byDigest)
			if res.Size != size || res.Fetched != size {
				t.Errorf("%s: size %d, fetched %d, want %d", name, res.Size, res.Fetched, size)
			}
			asked(t, mirror, false) // not for a small file
		}
	}
}

// A file of unknown length comes from its origin until a mirror states the length.
func TestUnknownLength(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]mirrortest.Option{
		"chunked": mirrortest.Chunked(), "until close": mirrortest.UntilClose(),
	} {
		t.Run(name, func(t *testing.T) {
			origin := sized(t, 5*mib, option, mirrortest.Digest())
			res := newRun(t, origin.URL).right(origin.Content)
			verified(t, res, byDigest)
			if res.Size != 5*mib {
				t.Errorf("size %d", res.Size)
			}
		})
	}
}

// Proves rule 17: a cut body is never a complete file, also without a digest.
func TestNoLastChunk_Rule17(t *testing.T) {
	t.Parallel()
	origin := sized(t, 2*mib, mirrortest.NoLastChunk())
	r := newRun(t, origin.URL)
	r.client.Tries = 2
	r.wrong(download.Network)
	origin.Set(mirrortest.Chunked(), mirrortest.CutAfter(mib))
	r.wrong(download.Network)
}

// Proves rule 17 with a known digest: all bytes have come although each answer was cut after them, and the
// digest confirms that. The server states that nothing follows, or it does not support ranges and sends the same again.
// The digest then decides after the second time.
func TestNoLastChunkIsTheFile_Rule17(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]mirrortest.Option{
		"says that nothing follows": {}, "ignores ranges": {mirrortest.IgnoreRange()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin := sized(t, 2*mib, append(options, mirrortest.NoLastChunk())...)
			r := newRun(t, origin.URL)
			r.client.Tries, r.client.RetryWait = 3, time.Minute // the digest is compared before that
			r.req.Trust.Claims = userClaim(origin.Digest())
			res := r.right(origin.Content)
			if n := len(origin.Requests()); n != 2 || !res.Proof.Verified() {
				t.Errorf("%d requests, %v", n, res.Proof)
			}
		})
	}
}

// Proves rules 17 and 22: bytes that are cut at the same place repeatedly and are not the file are no
// complete file.
func TestNoLastChunkOfAPart_Rule17_Rule22(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]mirrortest.Option{
		"cut": {mirrortest.Chunked(), mirrortest.CutAfter(mib)}, "complete": {mirrortest.NoLastChunk()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin := sized(t, 2*mib, append(options, mirrortest.IgnoreRange())...)
			r := newRun(t, origin.URL)
			r.client.Tries, r.client.RetryWait = 4, time.Millisecond
			r.req.Trust.Claims = userClaim(other())
			if name == "cut" {
				r.req.Trust.Claims = userClaim(origin.Digest())
			}
			r.wrong(download.Budget)
		})
	}
}

// Proves rules 17 and 34: without a digest all bytes of a cut body are a complete file only if the server then
// states that length with the same tag, and a server that states another length has another file.
func TestNoLastChunkWithoutAWord_Rule17_Rule34(t *testing.T) {
	t.Parallel()
	origin := sized(t, 2*mib, mirrortest.ETag(`"v1"`), mirrortest.NoLastChunk())
	if result := newRun(t, origin.URL).right(origin.Content); result.Proof.String() != "unverified" {
		t.Errorf("proven by %v", result.Proof)
	}
	for name, tag := range map[string]mirrortest.Option{
		"another tag": mirrortest.Header("ETag", `"v2"`), "no tag": mirrortest.Header("ETag", ""),
	} {
		t.Run(name, func(t *testing.T) {
			refuses := mirrortest.When(func(q *http.Request) bool { return q.Header.Get("Range") != "" }, mirrortest.Status(416),
				mirrortest.Header("Content-Range", fmt.Sprintf("bytes */%d", 2*mib)), tag)
			origin := sized(t, 2*mib, mirrortest.ETag(`"v1"`), mirrortest.NoLastChunk(), refuses)
			newRun(t, origin.URL).wrong(download.Mismatch)
		})
	}

	ranged := func(q *http.Request) bool { return q.Header.Get("Range") != "" }
	origin = sized(t, 2*mib, mirrortest.Once(mirrortest.Chunked(), mirrortest.CutAfter(mib)),
		mirrortest.When(ranged, mirrortest.Status(416), mirrortest.Header("Content-Range", "bytes */1000")))
	r := newRun(t, origin.URL)
	r.req.Trust.Claims = userClaim(origin.Digest())
	var why []string
	r.req.Observe = func(ev download.Event) {
		if e, ok := ev.(download.Restarted); ok {
			why = append(why, e.Reason)
		}
	}
	if r.right(origin.Content); len(why) != 1 || !strings.Contains(why[0], "changed") {
		t.Errorf("began anew for %q, want that the file changed", why)
	}
}

// Rule 15 with an unknown length: bytes are kept under a validator, and the rest follows.
func TestUnknownLengthGoesOn_Rule15(t *testing.T) {
	t.Parallel()
	origin := sized(t, 4*mib, mirrortest.Chunked(), mirrortest.Digest(), mirrortest.Once(mirrortest.CutAfter(2*mib)))
	res := newRun(t, origin.URL).right(origin.Content)
	if q := origin.Requests()[1]; !q.Ranged || q.Range.Start == 0 || res.Duplicate != 0 {
		t.Errorf("asked for %v, %d bytes twice", q.Range, res.Duplicate)
	}
	verified(t, res, byDigest)
}

// Proves rule 19.
func TestMaxSize_Rule19(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]mirrortest.Option{
		"chunked": mirrortest.Chunked(), "until close": mirrortest.UntilClose(),
	} {
		t.Run(name, func(t *testing.T) {
			origin := sized(t, 8*mib, option, mirrortest.ETag(`"v1"`))
			r := newRun(t, origin.URL)
			r.client.MaxSize = 2 * mib
			if e := r.wrong(download.Limit); e.Kept > 2*mib {
				t.Errorf("%d bytes on disk", e.Kept)
			}
			if part, err := os.Stat(r.part()); err != nil || part.Size() > 2*mib {
				t.Errorf("the part file: %v, %v", part, err)
			}
			r.client.MaxSize = 8 * mib
			r.right(origin.Content)
		})
	}
}

// Memory use does not grow with the file.
func TestMemory(t *testing.T) {
	const size = 96 * mib
	content := mirrortest.Generate(size, 7) // generated content needs no memory itself
	mirror := mirrortest.New(t, content, mirrortest.ETag(`"v1"`))
	origin := mirrortest.New(t, content, mirrortest.ETag(`"v1"`))
	r := newRun(t, origin.URL)
	r.mirrors(mirror)
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var most uint64
	r.req.Observe = func(ev download.Event) {
		if _, ok := ev.(download.Progress); ok {
			runtime.GC() // garbage does not count, however large the heap of other tests is
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
	}
	if _, err := r.get(); err != nil {
		t.Fatal(err)
	}
	if most > before.HeapAlloc+32*mib {
		t.Errorf("%d MiB more", (most-before.HeapAlloc)/mib)
	}
}

// Proves rule 17: a body without a length was cut if it ends before the size that the same server stated for
// the same version, in answer to HEAD or to an earlier GET. No digest is known that would show it.
func TestEndsBeforeItsSize_Rule17(t *testing.T) {
	t.Parallel()
	get := func(q *http.Request) bool { return q.Method == "GET" }
	twice := mirrortest.ContentLength("2097152")
	for name, edit := range map[string]func(r *run, s *mirrortest.Server){
		"HEAD for a digest": func(r *run, s *mirrortest.Server) { s.Set(mirrortest.Mirrors("http://m.example/file.bin")) },
		"GET before":        func(r *run, s *mirrortest.Server) { s.Set(mirrortest.Once(twice)) },
		"a file is replaced": func(r *run, s *mirrortest.Server) {
			r.put([]byte("mine"))
			r.req.IfExists.Overwrite = true
		},
		"by a newer one": func(r *run, s *mirrortest.Server) {
			r.put([]byte("mine"))
			r.req.IfExists.IfNewer = true
		},
	} {
		for how, body := range map[string]mirrortest.Option{
			"until close": mirrortest.UntilClose(), "chunked": mirrortest.Chunked(),
		} {
			if name == "GET before" && how == "chunked" {
				continue // its first answer would have both lengths
			}
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				origin := sized(t, mib, mirrortest.When(get, body))
				r := newRun(t, origin.URL)
				r.client.Tries, r.client.RetryWait = 2, time.Millisecond
				origin.Set(mirrortest.OnHead(twice))
				edit(r, origin)
				_, none := os.Stat(r.path())
				if e := r.fails(download.Network); !strings.Contains(e.Error(), "body ends at byte 1048576") {
					t.Errorf("%v", e)
				}
				if none == nil {
					r.holds(r.path(), "mine")
				} else if _, err := os.Stat(r.path()); err == nil {
					t.Error("it is taken for the file")
				}
			})
		}
	}
}

// Proves rules 15 and 17: such a body is resumed if a strong ETag allows it, and a digest decides.
func TestEndsBeforeItsSizeGoesOn_Rule15_Rule17(t *testing.T) {
	t.Parallel()
	get := func(q *http.Request) bool { return q.Method == "GET" }
	cut := mirrortest.When(get, mirrortest.Times(1, mirrortest.UntilClose(), mirrortest.CutAfter(mib)))
	origin := sized(t, 2*mib, mirrortest.ETag(`"v1"`), cut)
	r := newRun(t, origin.URL)
	r.req.IfExists.Overwrite = true
	r.put([]byte("mine"))
	if res := r.right(origin.Content); res.Duplicate > 0 {
		t.Errorf("%d bytes came twice", res.Duplicate)
	}
	for _, u := range []mirrortest.Option{mirrortest.UntilClose(), mirrortest.Chunked()} { // HEAD is wrong
		origin = sized(t, mib, mirrortest.Digest(), mirrortest.OnHead(mirrortest.ContentLength("2097152")),
			mirrortest.When(get, mirrortest.IgnoreRange(), u))
		r = newRun(t, origin.URL)
		r.req.IfExists.Overwrite = true
		r.put([]byte("mine"))
		r.right(origin.Content)
	}
}

// Proves rule 17: the server gave its digest and a length that is too long or none, and is gone. The last source gives
// another length, so the digest decides. A mirror that has less than what is here is no such source.
func TestStatedLength_Rule17(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		size, have int64
		seed       uint64
	}{
		"all of it":              {mib + 1000, mib, 7},
		"as many, wrong":         {mib + 1000, mib, 8},
		"half of it":             {mib + 1000, mib / 2, 7},
		"half of it, short":      {mib - 1000, mib / 2, 7},
		"none, all of it, wrong": {-1, mib, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin, mirror := sized(t, mib, mirrortest.Status(http.StatusNotFound)), sized(t, mib)
			r := newRun(t, origin.URL)
			r.mirrors(sized(t, mib/4), mirror)
			if err := r.key().Make(); err != nil {
				t.Fatal(err)
			}
			claim := verify.Claim{Digest: origin.Digest(), Field: "Digest", Channel: verify.HTTP}
			r.plant(partfile.Identity{Size: tt.size, Claims: []verify.Claim{claim}}, made(tt.have, tt.seed), r.key())
			verified(t, r.right(origin.Content), byDigest)
		})
	}
}

// Bytes are not discarded for the size of a mirror, which may be wrong.
func TestStatedLengthStays_Rule16(t *testing.T) {
	t.Parallel()
	origin, mirror := sized(t, mib, mirrortest.Status(http.StatusNotFound)), sized(t, mib/4)
	r := newRun(t, origin.URL)
	r.mirrors(mirror)
	if err := r.key().Make(); err != nil {
		t.Fatal(err)
	}
	claim := verify.Claim{Digest: origin.Digest(), Field: "Digest", Channel: verify.HTTP}
	r.plant(partfile.Identity{Size: mib, Claims: []verify.Claim{claim}}, made(mib, 7)[:mib/2], r.key())
	if _, err := r.get(); err == nil || err.(*download.Error).Kept != mib/2 {
		t.Errorf("%v", err)
	}
}
