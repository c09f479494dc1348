package download_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/scheduler"
)

// Proves S2: a download does without mirrors that cannot be reached, or that fail during the download.
func TestUnreachableMirrors_S2(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	dead, dying := sized(t, size), sized(t, size, mirrortest.Rate(4*mib), mirrortest.DieAfter(mib/2))
	dead.Die()
	good := sized(t, size, held(4*mib, sent(mib/2, dying)))
	origin := vouch(t, size, dead, dying, good)
	r := newRun(t, origin.URL)
	origin.Set(held(2*mib, allOf(givenUp(r, dead.URL), sent(mib/2, dying), sent(part, good))))
	res := r.right(origin.Content)
	useful(t, res, good)
	useful(t, res, dying)
	if from(t, res, dead).Err == nil {
		t.Error("nothing is said about the dead mirror")
	}
}

// Proves rule 39: the mirrors continue when the origin fails.
func TestOriginDies_Rule39(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	mirror := sized(t, size, mirrortest.Rate(8*mib))
	origin := vouch(t, size, mirror)
	origin.Set(mirrortest.DieAfter(mib))
	res := newRun(t, origin.URL).right(origin.Content)
	useful(t, res, mirror)
	verified(t, res, byDigest)
}

// Proves rule 39 for the opposite case: all mirrors are bad, and the origin serves alone.
func TestAllMirrorsBad_Rule39(t *testing.T) {
	t.Parallel()
	const size = 4 * mib
	dead, refuses, cuts := sized(t, size), sized(t, size, mirrortest.Status(500)), sized(t, size, mirrortest.CutAfter(0))
	dead.Die()
	origin := vouch(t, size, dead, refuses, cuts)
	r := newRun(t, origin.URL)
	r.client.Tries = 3
	res := r.right(origin.Content)
	if got := from(t, res, origin); got.Bytes != size {
		t.Errorf("%d bytes of the origin", got.Bytes)
	}
}

// Proves S15 and rule 14: a mirror that sends the whole file instead of ranges is not used beside others.
func TestWholeAnswers_S15_Rule14(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	rude := sized(t, size, mirrortest.Rate(4*mib), mirrortest.IgnoreRange())
	good := sized(t, size, held(4*mib, requested(rude)))
	origin := vouch(t, size, rude, good)
	origin.Set(held(2*mib, allOf(requested(rude), sent(part, good))))
	r := newRun(t, origin.URL)
	res := r.right(origin.Content)
	asked(t, rude, true)
	useful(t, res, good)
	for _, up := range saw[download.SourceUp](r) {
		if up.Whole != (up.URL == rude.URL) {
			t.Errorf("told: %+v", up)
		}
	}
}

// Proves rule 14: alone, such a server sends the file, in one answer and from its first byte.
func TestWholeAnswerToResume_S15_Rule14(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	origin := sized(t, size, mirrortest.Rate(8*mib), mirrortest.Digest(), mirrortest.IgnoreRange())
	r := newRun(t, origin.URL)
	r.interrupt(3 * mib)
	before := len(origin.Requests())
	res := r.right(origin.Content)
	if n := len(origin.Requests()) - before; n != 1 {
		t.Errorf("%d requests", n)
	}
	if res.Resumed < 3*mib {
		t.Errorf("resumed %d", res.Resumed)
	}
}

// Proves S17: the first request, for the whole file, ends where it meets the ranges of others.
func TestFirstRequestMeetsOthers_S17(t *testing.T) {
	t.Parallel()
	const size = 16 * mib
	mirror := sized(t, size, mirrortest.Rate(16*mib))
	origin := vouch(t, size, mirror)
	origin.Set(waiting(2*mib, mirror))
	newRun(t, origin.URL).right(origin.Content)
	q := origin.Requests()[0]
	if q.Ranged || q.Done || q.Sent > size*3/4 {
		t.Errorf("the first request brought %d bytes (ranged %v, done %v)", q.Sent, q.Ranged, q.Done)
	}
}

// The first mirror is asked as soon as the header of the origin's answer names it, before any byte of the
// file has come.
func TestFirstMirrorBesideTheFirstAnswer(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	mirror := sized(t, size, mirrortest.Rate(8*mib))
	origin := vouch(t, size, mirror)
	origin.Set(mirrortest.StallAfter(0))
	r := newRun(t, origin.URL)
	var arrived int64
	asked := false
	observe := r.req.Observe
	r.req.Observe = func(ev download.Event) {
		observe(ev)
		switch ev := ev.(type) {
		case download.Progress:
			arrived = ev.Done
		case download.RangeStarted:
			if ev.URL == mirror.URL && !asked {
				asked = true
				if arrived > 0 || ev.Why != scheduler.ReasonGrowth {
					t.Errorf("the mirror was asked after %d bytes, because %v", arrived, ev.Why)
				}
				origin.Set(mirrortest.StallAfter(-1))
			}
		}
	}
	r.right(origin.Content)
	if !asked {
		t.Error("the mirror was not asked")
	}
}

// Proves S16 and rule 21: the range of a stalled mirror comes from another one within seconds.
func TestStalledMirror_S16_Rule21(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	stalls := sized(t, size, mirrortest.Rate(4*mib), mirrortest.StallAfter(300_000))
	origin := vouch(t, size, stalls)
	origin.Set(held(2*mib, sent(300_000, stalls)))
	r := newRun(t, origin.URL)
	r.client.Timeout = time.Hour // the timeout of a source that is alone
	useful(t, r.right(origin.Content), stalls)
}

// Proves rule 21: a source that no other can replace gets its time, and then another try.
func TestStalledAlone_Rule21(t *testing.T) {
	t.Parallel()
	origin := sized(t, 4*mib, mirrortest.Digest(), mirrortest.Once(mirrortest.StallAfter(mib)))
	r := newRun(t, origin.URL)
	r.client.Timeout = 3 * time.Second // the first bytes come earlier
	res := r.right(origin.Content)
	if q := origin.Requests(); len(q) < 2 || !q[1].Ranged || res.Duplicate != 0 {
		t.Errorf("%d requests, %v", len(q), q)
	}
	if res.Elapsed < 3*time.Second {
		t.Errorf("it took %v", res.Elapsed)
	}
}

// Proves rule 22: progress resets the count of failures, so a server that is merely bad does not use up the
// tries.
func TestResetsWithProgress_Rule22(t *testing.T) {
	t.Parallel()
	origin := sized(t, 8*mib, mirrortest.Digest(), mirrortest.CutAfter(mib))
	r := newRun(t, origin.URL)
	r.client.Tries = 3
	res := r.right(origin.Content)
	// After each failure a small range is tried first.
	if n := len(origin.Requests()); n < 8 || n > 17 {
		t.Errorf("%d requests", n)
	}
	if res.Duplicate != 0 {
		t.Errorf("%d bytes came twice", res.Duplicate)
	}
}

// Proves rule 22: without progress the tries are limited, and the bytes are kept.
func TestTriesAreBounded_Rule22(t *testing.T) {
	t.Parallel()
	origin := sized(t, 4*mib, mirrortest.Digest(), mirrortest.CutAfter(0))
	origin.Set(mirrortest.Once(mirrortest.CutAfter(mib)))
	r := newRun(t, origin.URL)
	r.client.Tries = 4
	e := r.wrong(download.Budget)
	if e.Kept != mib || e.Part != r.part() {
		t.Errorf("kept %d bytes in %q", e.Kept, e.Part)
	}
	if n := len(origin.Requests()); n != 5 {
		t.Errorf("%d requests", n)
	}
}

// Proves rule 22: without any byte the kind is Network.
func TestNobodyThere(t *testing.T) {
	t.Parallel()
	origin := sized(t, mib)
	origin.Die()
	r := newRun(t, origin.URL)
	r.client.Tries = 2
	r.wrong(download.Network)
	r.empty()
}

// A timeout at the server is not the user's interruption (rule 21).
func TestNoHeader_Rule21(t *testing.T) {
	t.Parallel()
	origin := sized(t, mib, mirrortest.Latency(10*time.Second))
	r := newRun(t, origin.URL)
	r.client.Tries = 2
	r.header = 100 * time.Millisecond
	r.wrong(download.Network)
}

// Proves rule 23: a server is asked again at the time of its Retry-After.
func TestRetryAfter_Rule23(t *testing.T) {
	t.Parallel()
	origin := sized(t, mib, mirrortest.Digest(), mirrortest.Once(mirrortest.Status(503), mirrortest.RetryAfter("1")))
	newRun(t, origin.URL).right(origin.Content)
	if q := origin.Requests(); len(q) != 2 || q[1].Start.Sub(q[0].End) < time.Second {
		t.Errorf("asked again too soon: %v", q)
	}
}

// Proves rule 23: a server with too long a Retry-After is down, and the error states when it would be back.
func TestRetryAfterTooLong_Rule23(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"3600", "-1", "soon"} {
		origin := sized(t, mib, mirrortest.Status(503), mirrortest.RetryAfter(value))
		e := newRun(t, origin.URL).wrong(download.Refused)
		if n := len(origin.Requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
		if value == "3600" && !strings.Contains(e.Error(), "it asked to wait until ") {
			t.Error(e)
		}
	}
}

// Proves rule 26 and the use of a MirrorBrain: links and digest come with the redirect.
func TestMirrorBrain_Rule26(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	second := sized(t, size, mirrortest.Rate(4*mib))
	landing := sized(t, size, waiting(4*mib, second))
	origin := vouch(t, size, landing, second)
	origin.Set(mirrortest.Redirect(landing.URL))
	res := newRun(t, origin.URL).right(origin.Content)
	verified(t, res, byDigest)
	useful(t, res, second)
	for _, s := range []*mirrortest.Server{landing, second} {
		if n := s.MaxConcurrent(); n != 1 { // the origin redirects there, too (C7)
			t.Errorf("%d requests at a time at %s", n, s.URL)
		}
	}
}

// The mirror that a server redirects to is rejected like any other (C5, rule 39).
func TestMirrorBrainToWrongMirror_C5_C8_Rule39(t *testing.T) {
	t.Parallel()
	const size = 4 * mib
	for name, landing := range map[string]*mirrortest.Server{
		"digest": sized(t, size-1, mirrortest.Digest()),
		"404":    sized(t, size, mirrortest.Status(http.StatusNotFound)),
	} {
		t.Run(name, func(t *testing.T) {
			good := sized(t, size)
			origin := vouch(t, size, good)
			origin.Set(mirrortest.Redirect(landing.URL))
			res := newRun(t, origin.URL).right(origin.Content)
			verified(t, res, byDigest)
			useful(t, res, good)
		})
	}
}

// Proves C5 with the user's digest: the mirror is wrong, not the server that redirected there.
func TestMirrorBrainAgainstUser_C5(t *testing.T) {
	t.Parallel()
	good, landing := sized(t, 2*mib), sized(t, 2*mib, mirrortest.Digest(other()))
	origin := sized(t, 2*mib, mirrortest.Mirrors(good.URL), mirrortest.Redirect(landing.URL))
	r := newRun(t, origin.URL)
	r.req.Trust.Claims = userClaim(good.Digest())
	res := r.right(origin.Content)
	verified(t, res, byUser)
	useful(t, res, good)
	useless(t, res, origin)
}

// Proves C8: a later redirect of a server to a mirror with another file is no change of the file (rule 34).
func TestMirrorBrainToStaleMirrorLater_C8_Rule34(t *testing.T) {
	t.Parallel()
	const size = 6 * mib
	first, stale := sized(t, size, mirrortest.Rate(8*mib)), sized(t, size+1)
	origin := vouch(t, size, first)
	origin.Set(mirrortest.Redirect(first.URL))
	r := newRun(t, origin.URL)
	r.interrupt(2 * mib)
	origin.Set(mirrortest.Redirect(stale.URL))
	res := r.right(origin.Content)
	if len(saw[download.Restarted](r)) != 0 || res.Resumed < 2*mib || stale.Sent() > 2*mib {
		t.Errorf("resumed %d, %v", res.Resumed, r.events)
	}
}
