package download_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"braid/byterange"
	"braid/download"
	"braid/internal/test/mirrortest"
)

// Proves C7: several names of one server are one server.
func TestOneRequestAtATime_C7_Rule38(t *testing.T) {
	t.Parallel()
	const size = 12 * mib
	mirror := sized(t, size, mirrortest.Rate(4*mib))
	origin := sized(t, size, waiting(4*mib, mirror), mirrortest.Digest(),
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

// The user may exceed the rule (C7), up to the given number.
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

// Proves C7 for mirrors that redirect to the same host: the host that answers counts. Two names of one host
// are only known when it answers; no byte of the second answer is used.
func TestRedirectsToOneHost_C7(t *testing.T) {
	t.Parallel()
	const size = 12 * mib
	target := sized(t, size, mirrortest.Rate(2*mib))
	var links []string
	for range 3 {
		links = append(links, mirrortest.New(t, []byte("x"), mirrortest.Redirect(target.URL)).URL)
	}
	twice := func() bool { return len(target.Requests()) >= 2 }
	origin := sized(t, size, held(4*mib, twice), mirrortest.Digest(), mirrortest.Mirrors(links...))
	r := newRun(t, origin.URL)
	res := r.right(origin.Content)
	useful(t, res, origin)
	if !twice() {
		t.Fatalf("%d requests at the target", len(target.Requests()))
	}
	var order []int
	var have byterange.Set
	var came int64
	for _, p := range r.brought(origin.URL) {
		order, came = append(order, p.Fetch), came+p.Range.Len()
		have.Add(p.Range)
	}
	if came != have.Len() {
		t.Errorf("the target sent %d bytes twice", came-have.Len())
	}
	if len(slices.Compact(slices.Clone(order))) > len(slices.Compact(slices.Sorted(slices.Values(order)))) {
		t.Errorf("two requests brought bytes at a time: %v", order)
	}
}

// brought returns the ranges that came, in order, without those from a URL.
func (r *run) brought(but string) (all []download.Piece) {
	skip := map[int]bool{}
	for _, ev := range r.events {
		switch ev := ev.(type) {
		case download.RangeStarted:
			skip[ev.Fetch] = ev.URL == but
		case download.Brought:
			for _, p := range ev.Pieces {
				if !skip[p.Fetch] {
					all = append(all, p)
				}
			}
		}
	}
	return all
}

// Proves S14 and rule 27 for a whole download: mirrors learn the plain URL of the origin and no secret.
func TestSecretsStayAtTheOrigin_S14_Rule27(t *testing.T) {
	t.Parallel()
	linked, named := sized(t, 8*mib), sized(t, 8*mib)
	together(4*mib, linked, named)
	origin := vouch(t, 8*mib, linked)
	origin.Set(waiting(2*mib, linked, named))
	r := newRun(t, origin.URL)
	r.mirrors(named, linked, named)
	r.req.Access.Header = map[string][]string{"Authorization": {"Bearer x"}, "X-Pass": {"y"}, "Accept-Language": {"de"}}
	res := r.right(origin.Content)
	for _, s := range []*mirrortest.Server{linked, named} {
		useful(t, res, s)
		for _, q := range s.Requests() {
			if q.Header.Get("Authorization") != "" || q.Header.Get("X-Pass") != "" ||
				q.Header.Get("Accept-Language") != "de" || q.Header.Get("Want-Digest") == "" {
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
