package download_test

import (
	"bytes"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/mirrortest"
)

// Proves rule 40 for a mistyped digest: the bytes are kept, and the corrected digest needs no byte. With any
// other the file is compared with what the servers have now, and without one it is set aside.
func TestMistypedDigest_Rule40(t *testing.T) {
	t.Parallel()
	const size = 6 * mib
	s, mirror := sized(t, size), sized(t, size)
	begin := func(t *testing.T) *run {
		r := newRun(t, s.URL)
		r.mirrors(mirror)
		r.req.Trust.Claims = userClaim(other())
		if e := r.wrong(download.Mismatch); e.Kept != size || e.Part != r.part() || e.Hint == "" {
			t.Fatalf("kept %d in %q (%s)", e.Kept, e.Part, e.Hint)
		}
		return r
	}
	t.Run("corrected", func(t *testing.T) {
		r := begin(t)
		before := s.Sent() + mirror.Sent()
		r.req.Trust.Claims = userClaim(s.Digest())
		res := r.right(s.Content)
		verified(t, res, byUser)
		if res.Fetched != 0 || s.Sent()+mirror.Sent() != before {
			t.Errorf("%d bytes were fetched", res.Fetched)
		}
	})
	t.Run("the same", func(t *testing.T) {
		r := begin(t)
		res, _ := r.get()
		if res.Compared < size || res.Resumed != size {
			t.Errorf("%d bytes were compared, %d resumed", res.Compared, res.Resumed)
		}
		r.req.Trust.Claims = userClaim(s.Digest())
		if res := r.right(s.Content); res.Fetched != 0 {
			t.Errorf("%d bytes were fetched", res.Fetched)
		}
	})
	t.Run("another", func(t *testing.T) {
		r := begin(t)
		r.req.Trust.Claims = userClaim(mirrortest.Generate(9, 9).Digest())
		if e := r.wrong(download.Mismatch); e.Kept != size || e.Part != r.part() || e.Hint == "" {
			t.Errorf("kept %d in %q (%s)", e.Kept, e.Part, e.Hint)
		}
		r.req.Trust.Claims = userClaim(s.Digest())
		if res := r.right(s.Content); res.Fetched != 0 {
			t.Errorf("%d bytes were fetched", res.Fetched)
		}
	})
	t.Run("another, and no mirror", func(t *testing.T) {
		r := begin(t)
		r.req.Mirrors, r.req.Trust.Claims = nil, userClaim(mirrortest.Generate(9, 9).Digest())
		if e := r.wrong(download.Mismatch); e.Kept != size || e.Part != r.part() || e.Hint == "" {
			t.Errorf("kept %d in %q (%s)", e.Kept, e.Part, e.Hint)
		}
	})
	t.Run("another, which a mirror has", func(t *testing.T) {
		r := begin(t)
		next := mirrortest.New(t, mirrortest.Generate(size, 9))
		r.mirrors(next)
		r.req.Trust.Claims = userClaim(next.Digest())
		verified(t, r.right(next.Content), byUser)
	})
	t.Run("another, twice", func(t *testing.T) {
		r := begin(t)
		r.req.Trust.Claims = userClaim(mirrortest.Generate(9, 9).Digest())
		r.wrong(download.Mismatch)
		if res, err := r.get(); err == nil || res.Resumed != size || res.Compared < size {
			t.Errorf("%v: %d bytes were compared, %d resumed", err, res.Compared, res.Resumed)
		}
	})
	t.Run("the same, of what the server has by now", func(t *testing.T) {
		origin := sized(t, size, mirrortest.Corrupt(3*mib))
		r := newRun(t, origin.URL)
		r.req.Trust.Claims = userClaim(origin.Digest())
		r.wrong(download.Mismatch)
		origin.Reset()
		if res := r.right(origin.Content); res.Resumed != size {
			t.Errorf("%d bytes resumed", res.Resumed)
		}
	})
	t.Run("the same, and the server gives its own by now", func(t *testing.T) {
		origin := sized(t, size, mirrortest.ETag(`"v1"`))
		r := newRun(t, origin.URL)
		r.req.Trust.Claims = userClaim(other())
		r.wrong(download.Mismatch)
		origin.Reset(mirrortest.Digest())
		if e := r.wrong(download.Mismatch); e.Kept != size {
			t.Errorf("%d bytes are kept", e.Kept)
		}
		r.req.Trust.Claims = userClaim(origin.Digest())
		if res := r.right(origin.Content); res.Fetched != 0 {
			t.Errorf("%d bytes were fetched", res.Fetched)
		}
	})
	t.Run("another file since", func(t *testing.T) {
		origin := sized(t, size)
		r := newRun(t, origin.URL)
		r.req.Trust.Claims = userClaim(other())
		r.wrong(download.Mismatch)
		next := made(size+1, 7)
		r.req.Trust.Claims = userClaim(sized(t, size+1).Digest())
		origin.Reset(mirrortest.Handler(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			http.ServeContent(w, q, "", time.Time{}, bytes.NewReader(next))
		})))
		if res, err := r.get(); err != nil || !res.Proof.Verified() {
			t.Errorf("%+v, %v", res, err)
		}
	})
	t.Run("another, and the server leads to an older copy", func(t *testing.T) {
		older := sized(t, size-5)
		var to atomic.Pointer[mirrortest.Server]
		to.Store(s)
		origin := sized(t, size, mirrortest.Handler(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			http.Redirect(w, q, to.Load().URL, http.StatusFound)
		})))
		r := newRun(t, origin.URL)
		r.req.Trust.Claims = userClaim(other())
		r.wrong(download.Mismatch)
		to.Store(older)
		r.req.Trust.Claims = userClaim(mirrortest.Generate(9, 9).Digest())
		if e := r.wrong(download.Mismatch); e.Kept < size-5 {
			t.Errorf("%d bytes are kept", e.Kept)
		}
		to.Store(s)
		r.req.Trust.Claims = userClaim(s.Digest())
		if res := r.right(s.Content); res.Resumed < size-5 {
			t.Errorf("%d bytes resumed", res.Resumed)
		}
	})
	t.Run("none", func(t *testing.T) {
		r := begin(t)
		r.req.Trust.Claims = nil
		if res, err := r.get(); err != nil || res.Resumed != 0 || res.Proof.Verified() {
			t.Errorf("%v, %+v", err, res)
		}
		if told := saw[download.Restarted](r); len(told) == 0 || !strings.Contains(told[0].Reason, ".part.bad") {
			t.Errorf("told %v", told)
		}
	})
}

// If all sources have the same bytes, no more is fetched than the server's and one more copy, whatever the
// user's digest is.
func TestMistypedDigestCosts_Rule40(t *testing.T) {
	t.Parallel()
	const size = 12 * mib
	origin, _ := several(t, size, 4, nil, nil)
	origin.Set(mirrortest.Digest(other()))
	r := newRun(t, origin.URL)
	r.req.Trust.Claims = userClaim(other())
	res, err := r.get()
	if err == nil || res.Fetched+res.Compared > 4*size {
		t.Errorf("%v: %d bytes were fetched, %d compared", err, res.Fetched, res.Compared)
	}
}

// Proves rules 34 and 40: a mistyped digest does not take back what the server has stated before. Whether the command with
// it is stopped or ends, what the server stated counts in the next one without it.
func TestMistypedDigestDenies_Rule34_Rule40(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(r *run){
		"stopped":           func(r *run) { r.interrupt(4 * mib) },
		"to its end":        func(r *run) { r.wrong(download.Mismatch) },
		"to its end, twice": func(r *run) { r.wrong(download.Mismatch); r.get() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sized(t, 12*mib, mirrortest.Digest())
			r := newRun(t, s.URL)
			r.interrupt(2 * mib)
			stated := s.Digest()
			s.Reset()
			r.req.Trust.Claims = userClaim(other())
			end(r)
			wrong := sized(t, 12*mib, mirrortest.Corrupt(mib), mirrortest.Corrupt(11*mib))
			s.Reset(mirrortest.Redirect(wrong.URL))
			r.req.Trust.Claims = nil
			if name == "stopped" { // else all bytes are here, and right
				if e := r.wrong(download.Mismatch); !strings.Contains(e.Error(), stated.Hex()) {
					t.Errorf("%v", e)
				}
				s.Reset()
			}
			verified(t, r.right(s.Content), byDigest)
		})
	}
}
