package download_test

import (
	"crypto/tls"
	"errors"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/source/httpsource"
	"braid/verify"
)

// Each place is asked once, for a moment and for a few MiB at most. A place that falls silent ends with its
// moment. A place with another file (C5, C8), or without one, states why.
func TestMeasure_C5_C8(t *testing.T) {
	t.Parallel()
	const size, moment = 20 * mib, 3 * time.Second
	origin := sized(t, size, mirrortest.Digest())
	slow := sized(t, size, mirrortest.Rate(mib))
	stalls := sized(t, size, mirrortest.StallAfter(64<<10))
	longer, another, gone := sized(t, size+1), sized(t, size, mirrortest.Digest(other())), sized(t, size, mirrortest.Status(404))
	servers := []*mirrortest.Server{slow, stalls, longer, another, gone}
	origin.Set(mirrortest.Mirrors(slow.URL, stalls.URL, longer.URL, another.URL, gone.URL))
	hc := &httpsource.Client{}
	defer hc.CloseIdle()
	client := &download.Client{HTTP: hc}
	req := download.Request{URL: parse(t, origin.URL)}
	offer, err := client.Probe(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if none := client.Measure(t.Context(), download.Request{}, offer.File, moment); len(none) > 0 {
		t.Errorf("of a request without a URL: %+v", none)
	}
	all := client.Measure(t.Context(), req, offer.File, moment)
	if len(all) != 6 {
		t.Fatalf("%d places: %+v", len(all), all)
	}
	for i, want := range []struct{ least, most int64 }{{1, 16*mib + 256<<10}, {1, 8 * mib}, {1, 64 << 10}} {
		if g := all[i]; g.Err != nil || g.Bytes < want.least || g.Bytes > want.most || g.Rate() <= 0 {
			t.Errorf("%d: %+v", i, g)
		}
	}
	if all[0].Rate() <= all[2].Rate() {
		t.Errorf("who is silent is as fast: %+v", all)
	}
	if all[2].Took < moment {
		t.Errorf("who is silent had %v", all[2].Took)
	}
	for i, g := range all[3:] {
		if g.Err == nil || g.Bytes != 0 || g.Rate() != 0 {
			t.Errorf("%d: %+v", 3+i, g)
		}
	}
	for _, s := range servers {
		if n := len(s.Requests()); n != 1 {
			t.Errorf("%s got %d requests", s.URL, n)
		}
	}
}

// Proves rule 26 for a probe: a digest over http allows no redirect from https to http; the user's does.
func TestProbeDowngrade_Rule26(t *testing.T) {
	t.Parallel()
	plain := sized(t, mib)
	secure := sized(t, mib, mirrortest.TLS(nil), mirrortest.Redirect(plain.URL))
	origin := sized(t, mib, mirrortest.Digest())
	origin.Set(mirrortest.Link("<"+secure.URL+`>; rel=duplicate`,
		"<"+secure.URL+`>; rel=describedby; type="application/metalink4+xml"`))
	hc := &httpsource.Client{TLS: &tls.Config{RootCAs: mirrortest.Pool(secure)}}
	defer hc.CloseIdle()
	client := &download.Client{HTTP: hc}
	for _, claims := range [][]verify.Claim{nil, userClaim(origin.Digest())} {
		req := download.Request{URL: parse(t, origin.URL), Trust: download.Trust{Claims: claims}}
		offer, err := client.Probe(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		all := client.Measure(t.Context(), req, offer.File, time.Second)
		evidence := client.Evidence(t.Context(), req, offer)
		for _, err := range []error{all[1].Err, evidence.Err} {
			if refused := errors.Is(err, httpsource.ErrDowngrade); refused == (claims != nil) {
				t.Errorf("with %v: %v", claims, err)
			}
		}
	}
}
