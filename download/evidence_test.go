package download_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"braid/download"
	"braid/download/state"
	"braid/internal/test/mirrortest"
)

// Proves rule 30: the user's mirrors are combined without a digest if ETag and size are the origin's.
func TestUserMirrorsWithSameETag_Rule30(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	mirror := sized(t, size, mirrortest.Rate(4*mib), mirrortest.ETag(`"v1"`))
	origin := sized(t, size, waiting(4*mib, mirror), mirrortest.ETag(`"v1"`))
	r := newRun(t, origin.URL)
	r.mirrors(mirror)
	res := r.right(origin.Content)
	useful(t, res, mirror)
	verified(t, res, "unverified")
}

// Proves rule 30 and S18: bytes that nothing ties to the origin are not combined with its bytes.
func TestUserMirrorsAreNotMerged_Rule30_S18(t *testing.T) {
	t.Parallel()
	const size = 6 * mib
	for name, tt := range map[string]struct{ origin, mirror mirrortest.Option }{
		"none":     {mirrortest.ETag(""), mirrortest.ETag("")},
		"one":      {mirrortest.ETag(`"v1"`), mirrortest.ETag("")},
		"other":    {mirrortest.ETag(`"v1"`), mirrortest.ETag(`"v2"`)},
		"weak":     {mirrortest.ETag(`W/"v1"`), mirrortest.ETag(`W/"v1"`)},
		"md5 only": {mirrortest.Digest(md5Of(t, made(size, 7))), mirrortest.Digest(md5Of(t, made(size, 7)))},
	} {
		t.Run(name, func(t *testing.T) {
			mirror := sized(t, size, tt.mirror)
			origin := sized(t, size, mirrortest.Rate(16*mib), tt.origin)
			r := newRun(t, origin.URL)
			r.mirrors(mirror)
			res := r.right(origin.Content)
			if got := from(t, res, mirror).Bytes; got != 0 || res.Proof.Verified() {
				t.Errorf("%d bytes of the mirror, %v", got, res.Proof)
			}
		})
	}
}

// Proves rules 30 and 39: a mirror that was not combined serves alone when the origin fails, later or at
// once.
func TestFallBack_C2_Rule30_Rule39(t *testing.T) {
	t.Parallel()
	const size = 6 * mib
	for name, option := range map[string]mirrortest.Option{
		"dies": mirrortest.DieAfter(mib), "404": mirrortest.Status(http.StatusNotFound), "cut": mirrortest.CutAfter(0),
	} {
		t.Run(name, func(t *testing.T) {
			decoy := sized(t, size)
			mirror := mirrortest.New(t, made(size, 8), mirrortest.Digest(), mirrortest.Mirrors(decoy.URL))
			origin := sized(t, size, mirrortest.Rate(8*mib), option)
			r := newRun(t, origin.URL)
			r.client.Tries = 2
			r.mirrors(mirror)
			r.req.Access.Header = map[string][]string{"Authorization": {"Bearer x"}}
			r.req.IfExists.Known = &state.Version{ETag: `"mine"`}
			res := r.right(mirror.Content)
			if got := from(t, res, mirror).Bytes; got != size {
				t.Errorf("%d bytes of the mirror", got)
			}
			for _, q := range mirror.Requests() {
				if q.Header.Get("Authorization") != "" || q.Header.Get("If-None-Match") != "" { // rule 27
					t.Errorf("%v", q.Header)
				}
			}
			asked(t, decoy, false) // C2: it is still a mirror
		})
	}
}

// The statements of an origin that failed count for its stand-ins (C5, C8).
func TestFallBackIsNotAnotherFile_Rule30(t *testing.T) {
	t.Parallel()
	const size = 6 * mib
	for name, tt := range map[string]struct {
		said   mirrortest.Option
		mirror mirrortest.Content
	}{
		"size":   {mirrortest.ETag(""), mirrortest.Generate(size-1, 7)},
		"digest": {mirrortest.Digest(md5Of(t, made(size, 7))), mirrortest.Generate(size, 8)},
	} {
		t.Run(name, func(t *testing.T) {
			mirror := mirrortest.New(t, tt.mirror)
			origin := sized(t, size, mirrortest.DieAfter(mib), tt.said)
			r := newRun(t, origin.URL)
			r.client.Tries = 2
			r.mirrors(mirror)
			r.wrong(download.Mismatch)
		})
	}
}

// Proves rule 30: a file that cannot be proven as demanded gets no name, and none of its bytes is fetched.
func TestNoEvidence_Rule30(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]mirrortest.Option{
		"none": mirrortest.ETag(`"v1"`), "md5": mirrortest.Digest(md5Of(t, made(mib, 7))), // rule 31
	} {
		t.Run(name, func(t *testing.T) {
			origin := sized(t, mib, option)
			r := newRun(t, origin.URL)
			r.req.Trust.Require = download.RequireDigest
			r.wrong(download.NoEvidence)
			r.empty()
		})
	}
	origin := sized(t, mib, mirrortest.Digest())
	r := newRun(t, origin.URL)
	r.req.Trust.Require = download.RequireDigest
	verified(t, r.right(origin.Content), byDigest)
}

// Proves rule 31: a weak digest is checked and proves nothing.
func TestWeakDigest_Rule31(t *testing.T) {
	t.Parallel()
	origin := sized(t, mib, mirrortest.Digest(md5Of(t, made(mib, 7))))
	res := newRun(t, origin.URL).right(origin.Content)
	if res.Proof.Verified() || len(res.Proof.Evidence()) != 1 {
		t.Errorf("the proof is %v", res.Proof)
	}
	origin.Set(mirrortest.Digest(md5Of(t, made(mib, 8))))
	newRun(t, origin.URL).wrong(download.Mismatch)
}

// Proves rules 32 and 64: a contradiction between the digests of the user and the server is found before any
// byte.
func TestUserContradictsServer_Rule32_Rule64(t *testing.T) {
	t.Parallel()
	mirror := sized(t, 2*mib)
	origin := vouch(t, 2*mib, mirror)
	r := newRun(t, origin.URL)
	r.req.Trust.Claims = userClaim(other())
	r.wrong(download.Mismatch)
	r.empty()
	asked(t, mirror, false)
	if res, _ := r.get(); res.Fetched != 0 {
		t.Errorf("%d bytes were fetched", res.Fetched)
	}
}

// Proves rule 32 for a second run: the server states another digest now, and the user's counts. The bytes of
// the user's file are kept.
func TestServerLeavesUsersFile_Rule32(t *testing.T) {
	t.Parallel()
	origin := resumable(t, mirrortest.Digest())
	r := newRun(t, origin.URL)
	r.req.Trust.Claims = userClaim(origin.Digest())
	kept := r.interrupt(2 * mib).Kept
	origin.Set(mirrortest.Digest(other()))
	if e := r.wrong(download.Mismatch); e.Kept < kept {
		t.Errorf("kept %d of %d", e.Kept, kept)
	}
}

// Proves C9: the user's digest decides, also if no server states one.
func TestWrongUserDigest_C9(t *testing.T) {
	t.Parallel()
	origin := sized(t, mib)
	r := newRun(t, origin.URL)
	r.req.Trust.Claims = userClaim(other())
	if e := r.wrong(download.Mismatch); e.Kept != mib {
		t.Errorf("kept %d", e.Kept)
	}
}

// A mirror of the user that answers before the origin is still a mirror: a fault of it is no reason to stop,
// and its ETag is not the origin's.
func TestMirrorAnswersBeforeOrigin(t *testing.T) {
	t.Parallel()
	const size = 6 * mib
	busy := func() mirrortest.Option {
		return mirrortest.Once(mirrortest.Status(http.StatusServiceUnavailable))
	}
	for name, option := range map[string]mirrortest.Option{
		"other digest": mirrortest.Digest(other()), "malformed digest": mirrortest.Header("Digest", "SHA-256=x"),
		"other ETag": mirrortest.ETag(`"m"`),
	} {
		t.Run(name, func(t *testing.T) {
			linked := sized(t, size, mirrortest.Rate(4*mib))
			mirror := sized(t, size, waiting(4*mib, linked), option)
			origin := sized(t, size, waiting(4*mib, linked), busy(), mirrortest.ETag(`"o"`), mirrortest.Mirrors(linked.URL))
			r := newRun(t, origin.URL)
			r.mirrors(mirror)
			r.req.Trust.Claims = userClaim(origin.Digest())
			res := r.right(origin.Content)
			useful(t, res, origin)
			useful(t, res, linked)
			asked(t, mirror, true)
			if n := len(saw[download.Restarted](r)); n != 0 || res.ETag != `"o"` {
				t.Errorf("%d restarts, ETag %s", n, res.ETag)
			}
		})
	}
}

// The mirror that answers before the origin has another file, and a different one each time. That is no
// change at the origin (rule 34).
func TestOtherMirrorAnswersBeforeOrigin(t *testing.T) {
	t.Parallel()
	const size = 12 * mib
	mirror := sized(t, size-1, mirrortest.Rate(4*mib))
	n := 0
	flaky := mirrortest.When(func(*http.Request) bool { n++; return n%2 == 1 && n < 5 },
		mirrortest.Status(http.StatusServiceUnavailable))
	origin := sized(t, size, flaky)
	r := newRun(t, origin.URL)
	r.mirrors(mirror)
	r.req.Trust.Claims = userClaim(origin.Digest())
	verified(t, r.right(origin.Content), byUser)
	if n := len(saw[download.Restarted](r)); n != 0 {
		t.Errorf("%d restarts", n)
	}
}

// Proves rule 39: with the user's digest, the user's mirrors need no origin.
func TestUserMirrorsWithoutOrigin_Rule39(t *testing.T) {
	t.Parallel()
	const size = 6 * mib
	first, second := sized(t, size), sized(t, size)
	together(4*mib, first, second)
	origin := sized(t, size, mirrortest.Status(http.StatusNotFound))
	r := newRun(t, origin.URL)
	r.mirrors(first, second)
	r.req.Trust.Claims = userClaim(first.Digest())
	res := r.right(first.Content)
	useful(t, res, first)
	useful(t, res, second)
	verified(t, res, byUser)
}

// Proves rule 40's last resort and C9: of two sources that differ it is not known which is wrong, and the
// digest of the whole file decides. Nothing starts over, and no source is asked for more bytes than the
// comparison needs.
func TestLastResort_Rule40_C9(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	mirror := sized(t, size, mirrortest.Rate(4*mib))
	origin := vouch(t, size, mirror)
	origin.Set(mirrortest.Once(mirrortest.Corrupt(every(64<<10, size)...)))
	r := newRun(t, origin.URL)
	res := r.right(origin.Content)
	verified(t, res, byDigest)
	if len(saw[download.Restarted](r)) > 0 || res.Compared > size+mib || len(saw[download.Comparing](r)) == 0 {
		t.Errorf("%d bytes were compared; %v", res.Compared, saw[download.Restarted](r))
	}
}

// Proves rules 39 and 40 and C9: without pieces and a third source, the right file is still found if any
// source has it, whatever its position. Each source is asked for the whole file at most once.
func TestOneOfThemIsRight_Rule39_Rule40_C9(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size    int64
		servers int
		good    int
		most    int64 // how many times the file's size may be fetched
	}{
		"a small file, the mirror": {mib, 2, 1, 2}, "the mirror": {8 * mib, 2, 1, 4}, "the last of three": {8 * mib, 3, 2, 5},
		"a small file, the last of four": {mib, 4, 3, 4}, "the server, of three": {8 * mib, 3, 0, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var servers []*mirrortest.Server
			for i := range c.servers {
				bad := mirrortest.Corrupt(every(mib/16, c.size)...) // all are wrong in the same way
				if i == c.good {
					bad = mirrortest.Corrupt()
				}
				servers = append(servers, sized(t, c.size, bad, mirrortest.Rate(4*mib)))
			}
			origin := servers[0]
			var links []string
			for _, m := range servers[1:] {
				links = append(links, m.URL)
			}
			origin.Set(mirrortest.Digest(origin.Digest()), mirrortest.Mirrors(links...))
			r := newRun(t, origin.URL)
			res := r.right(origin.Content)
			verified(t, res, byDigest)
			if sum := res.Fetched + res.Compared; sum > c.size*c.most+c.size/5 {
				t.Errorf("%d bytes came for %d", sum, c.size)
			}
		})
	}
}

// Proves rule 40: the search also ends if all sources are wrong, and the error states what is wrong.
func TestAllAreWrong_Rule40(t *testing.T) {
	t.Parallel()
	bad := mirrortest.Corrupt(every(mib/16, mib)...)
	var mirrors []*mirrortest.Server
	for range 6 {
		mirrors = append(mirrors, sized(t, mib, bad))
	}
	mirrors[2].Set(mirrortest.Status(http.StatusNotFound))
	origin := vouch(t, mib, mirrors...)
	origin.Set(bad)
	r := newRun(t, origin.URL)
	res, err := r.get()
	if e, _ := errors.AsType[*download.Error](err); e == nil || e.Kind != download.Mismatch {
		t.Fatalf("get: %v", err)
	}
	if n := len(saw[download.Restarted](r)); n != 0 || res.Fetched+res.Compared > 7*mib/2 {
		t.Errorf("begun again %d times, %d bytes came and %d were compared", n, res.Fetched, res.Compared)
	}
}

// Proves rule 40: if the origin alone is wrong as well, the download ends and keeps nothing.
func TestLyingOrigin_Rule40(t *testing.T) {
	t.Parallel()
	origin := sized(t, mib, mirrortest.Digest(), mirrortest.Corrupt(100))
	r := newRun(t, origin.URL)
	if e := r.wrong(download.Mismatch); e.Kept != 0 || e.Part != "" {
		t.Errorf("kept %d in %q", e.Kept, e.Part)
	}
	if n := len(origin.Requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
	r.empty()
}

// every returns offsets at a distance of step.
func every(step, size int64) (at []int64) {
	for off := step / 2; off < size; off += step {
		at = append(at, off)
	}
	return at
}

// Proves rule 15 and S18: without a validator, an answer that breaks off is requested again, but not forever.
func TestBreaksOffWithoutValidator_Rule15_Rule21(t *testing.T) {
	t.Parallel()
	origin := sized(t, 4*mib, mirrortest.Once(mirrortest.CutAfter(2*mib)))
	res := newRun(t, origin.URL).right(origin.Content)
	if q := origin.Requests()[1]; q.Ranged || res.Fetched != 6*mib {
		t.Errorf("ranged %v, fetched %d", q.Ranged, res.Fetched)
	}

	origin.Set(mirrortest.CutAfter(2 * mib))
	r := newRun(t, origin.URL)
	r.client.Tries = 4
	before := len(origin.Requests())
	if e := r.wrong(download.Network); e.Kept != 2*mib {
		t.Errorf("kept %d", e.Kept)
	}
	if n := len(origin.Requests()) - before; n > 8 {
		t.Errorf("%d requests", n)
	}
}

// Proves S18 for a source that became silent: its second answer is not tied to the first.
func TestSilentWithoutValidator_S18(t *testing.T) {
	t.Parallel()
	old, next := mirrortest.Generate(4*mib, 1), mirrortest.Generate(4*mib, 2)
	a := mirrortest.New(t, old, mirrortest.StallAfter(2*mib))
	b := mirrortest.New(t, next)
	front := mirrortest.New(t, []byte("x"), mirrortest.Redirect(b.URL))
	front.Set(mirrortest.Once(mirrortest.Redirect(a.URL)))
	r := newRun(t, front.URL)
	r.client.Timeout = 2 * time.Second
	r.right(b.Content)
}

// If nothing shows that two answers are of one file, several connections to its server (-x) do not help: the
// file comes over one, at once.
func TestSeveralConnectionsWithoutValidator_Rule15(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]mirrortest.Option{
		"no ranges": {mirrortest.IgnoreRange()}, "ranges": nil,
		"a date": {mirrortest.IgnoreRange(), mirrortest.Modified(time.Unix(1e9, 0))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sized(t, 4*mib, append(options, mirrortest.Rate(4*mib))...)
			r := newRun(t, s.URL)
			r.client.PerHost = 4
			if res := r.right(s.Content); len(s.Requests()) > 2 || res.Fetched != 4*mib {
				t.Errorf("%d requests, %d bytes", len(s.Requests()), res.Fetched)
			}
		})
	}
}
