package download_test

import (
	"net/http"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
)

// Proves C7: several names of one server are one server.
func TestOneRequestAtATime_C7_Rule38(t *testing.T) {
	t.Parallel()
	const size = 12 * mib
	mirror := sized(t, size, mirrortest.Rate(4*mib))
	origin := sized(t, size, mirrortest.Rate(4*mib), mirrortest.Digest(),
		mirrortest.Mirrors(mirror.URL, mirror.URL+"?a", mirror.URL+"?b"))
	origin.Set(mirrortest.Mirrors(origin.URL + "?c"))
	res := newRun(t, origin.URL).right(origin.Content)
	useful(t, res, mirror)
	for _, s := range []*mirrortest.Server{origin, mirror} {
		if n := s.MaxConcurrent(); n != 1 {
			t.Errorf("%d requests at a time at %s", n, s.URL)
		}
	}
}

// The user may step outside the rule (C7), as far as said and no further.
func TestRequestsPerHost_C7(t *testing.T) {
	t.Parallel()
	origin := sized(t, 12*mib, mirrortest.RateFunc(func(time.Duration) int64 { return 6 * mib }), mirrortest.Digest())
	origin.Set(mirrortest.When(func(*http.Request) bool { return true }, mirrortest.Latency(20*time.Millisecond)))
	r := newRun(t, origin.URL)
	r.client.PerHost = 3
	r.right(origin.Content)
	if n := origin.MaxConcurrent(); n > 3 {
		t.Errorf("%d requests at a time", n)
	}
}

// Proves C7 for mirrors that redirect to the same host: who answers counts. That two names lead to one
// host is known when it answers; nothing of the second answer is used.
func TestRedirectsToOneHost_C7(t *testing.T) {
	t.Parallel()
	const size = 12 * mib
	target := sized(t, size, mirrortest.Rate(2*mib))
	var links []string
	for range 3 {
		links = append(links, mirrortest.New(t, []byte("x"), mirrortest.Redirect(target.URL)).URL)
	}
	origin := sized(t, size, mirrortest.Rate(4*mib), mirrortest.Digest(), mirrortest.Mirrors(links...))
	res := newRun(t, origin.URL).right(origin.Content)
	useful(t, res, origin)
	requests := target.Requests()
	if len(requests) < 2 {
		t.Fatalf("%d requests at the target", len(requests))
	}
	for i, a := range requests {
		for _, b := range requests[i+1:] {
			both := minTime(a.End, b.End).Sub(b.Start)
			if both > time.Second && a.Sent > 0 && b.Sent > 0 {
				t.Errorf("two requests for %v at a time: %v with %d bytes, %v with %d", both, a.Range, a.Sent, b.Range, b.Sent)
			}
		}
	}
	if res.Duplicate > mib {
		t.Errorf("%d bytes came twice", res.Duplicate)
	}
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Proves S14 and rule 27 for a whole download: mirrors learn the plain address of the origin and no secret.
func TestSecretsStayAtTheOrigin_S14_Rule27(t *testing.T) {
	t.Parallel()
	linked := sized(t, 8*mib, mirrortest.Rate(4*mib))
	named := sized(t, 8*mib, mirrortest.Rate(4*mib))
	origin := vouch(t, 8*mib, linked)
	r := newRun(t, origin.URL)
	r.mirrors(named, linked, named)
	r.req.Header = map[string][]string{"Authorization": {"Bearer x"}, "X-Pass": {"y"}, "Accept-Language": {"de"}}
	res := r.right(origin.Content)
	for _, s := range []*mirrortest.Server{linked, named} {
		useful(t, res, s)
		for _, q := range s.Requests() {
			if q.Header.Get("Authorization") != "" || q.Header.Get("X-Pass") != "" || q.Header.Get("Accept-Language") != "de" || q.Header.Get("Want-Digest") == "" {
				t.Errorf("%v", q.Header)
			}
		}
	}
	if len(res.Sources) != 3 {
		t.Errorf("%d sources", len(res.Sources))
	}
	if q := origin.Requests()[0]; q.Header.Get("Authorization") != "Bearer x" || q.Header.Get("Referer") != "" {
		t.Errorf("%v", q.Header)
	}
}
