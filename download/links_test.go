package download_test

import (
	"fmt"
	"slices"
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/scheduler"
	"braid/verify"
)

// Proves C2: a mirror's own list of mirrors is ignored.
func TestLinksOfMirrorsAreIgnored_C2(t *testing.T) {
	t.Parallel()
	decoy := sized(t, 6*mib)
	mirror := sized(t, 6*mib, mirrortest.Rate(4*mib), mirrortest.Digest(), mirrortest.Mirrors(decoy.URL))
	origin := vouch(t, 6*mib, mirror)
	origin.Set(waiting(2*mib, mirror))
	res := newRun(t, origin.URL).right(origin.Content)
	useful(t, res, mirror)
	asked(t, decoy, false)
}

// Proves C2 for a mirror that the server redirected to.
func TestLinksAfterTheServerAreIgnored_C2(t *testing.T) {
	t.Parallel()
	decoy := sized(t, 4*mib)
	landing := sized(t, 4*mib, mirrortest.Digest(), mirrortest.Mirrors(decoy.URL))
	mirror := sized(t, 4*mib)
	origin := vouch(t, 4*mib, mirror)
	origin.Set(mirrortest.Redirect(landing.URL))
	newRun(t, origin.URL).right(origin.Content)
	asked(t, decoy, false)
}

// Proves C2: a server that lists itself is not its own mirror.
func TestSelfLink_C2(t *testing.T) {
	t.Parallel()
	origin := vouch(t, 4*mib)
	origin.Set(mirrortest.Mirrors(origin.URL))
	res := newRun(t, origin.URL).right(origin.Content)
	if len(res.Sources) != 1 || len(origin.Requests()) != 1 {
		t.Errorf("%d sources, %d requests", len(res.Sources), len(origin.Requests()))
	}
}

// Proves C4: without a digest, links are ignored, and the result states that nothing was verified.
func TestLinksNeedDigest_C4_Rule30(t *testing.T) {
	t.Parallel()
	mirror := sized(t, 4*mib)
	for name, weak := range map[string][]mirrortest.Option{
		"none": nil,
		"md5":  {mirrortest.Header("Digest", verify.Field(md5Of(t, made(mirror.Content.Size(), 7))))}, // rule 31
	} {
		t.Run(name, func(t *testing.T) {
			origin := sized(t, 4*mib, mirrortest.Rate(4*mib), mirrortest.Mirrors(mirror.URL))
			origin.Set(weak...)
			res := newRun(t, origin.URL).right(origin.Content)
			asked(t, mirror, false)
			if res.Proof.Verified() {
				t.Errorf("the proof is %v", res.Proof)
			}
			if n := len(origin.Requests()); n > 3 { // GET, HEAD, GET
				t.Errorf("%d requests", n)
			}
		})
	}
}

// Proves C4's extension: a digest from the user makes the links safe.
func TestUsersDigestMakesLinksUsable_C4(t *testing.T) {
	t.Parallel()
	mirror := sized(t, 6*mib, mirrortest.Rate(4*mib))
	origin := sized(t, 6*mib, waiting(4*mib, mirror), mirrortest.Mirrors(mirror.URL))
	r := newRun(t, origin.URL)
	r.req.Trust.Claims = userClaim(origin.Digest())
	res := r.right(origin.Content)
	useful(t, res, mirror)
	verified(t, res, byUser)
}

// Some stores send Digest on HEAD only.
func TestDigestOnHeadOnly(t *testing.T) {
	t.Parallel()
	mirror := sized(t, 6*mib, mirrortest.Rate(4*mib))
	origin := sized(t, 6*mib, waiting(4*mib, mirror), mirrortest.Mirrors(mirror.URL), mirrortest.OnHead(mirrortest.Digest()))
	res := newRun(t, origin.URL).right(origin.Content)
	useful(t, res, mirror)
	verified(t, res, byDigest)
	heads := slices.DeleteFunc(origin.Requests(), func(q mirrortest.Request) bool { return q.Method != "HEAD" })
	if len(heads) != 1 {
		t.Errorf("%d HEAD requests", len(heads))
	}
}

// HEAD and GET must not contradict each other about a file (rule 32).
func TestHeadContradictsGet_Rule32(t *testing.T) {
	t.Parallel()
	mirror := sized(t, 2*mib)
	origin := sized(t, 2*mib, mirrortest.Mirrors(mirror.URL), mirrortest.Header("Digest",
		verify.Field(md5Of(t, made(mirror.Content.Size(), 7)))))
	origin.Set(mirrortest.OnHead(mirrortest.Digest(origin.Digest(), md5Of(t, made(3, 3)))))
	newRun(t, origin.URL).wrong(download.Protocol)
}

// md5Of returns a digest that is not sufficient (C4).
func md5Of(t *testing.T, content []byte) verify.Digest {
	t.Helper()
	h := verify.MD5.New()
	h.Write(content)
	d, err := verify.NewDigest(verify.MD5, h.Sum(nil))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestNoMetalink(t *testing.T) {
	t.Parallel()
	mirror := sized(t, 6*mib)
	origin := vouch(t, 6*mib, mirror)
	r := newRun(t, origin.URL)
	r.req.NoMetalink = true
	if e := r.interrupt(2 * mib); e.Kept < 2*mib {
		t.Fatalf("kept %d bytes", e.Kept)
	}
	res := r.right(origin.Content)
	asked(t, mirror, false)
	verified(t, res, byDigest)
}

// With NoMetalink, links of an earlier run are not used.
func TestNoMetalinkAlsoForRememberedMirrors(t *testing.T) {
	t.Parallel()
	mirror := sized(t, 8*mib, mirrortest.Rate(4*mib))
	origin := vouch(t, 8*mib, mirror)
	r := newRun(t, origin.URL)
	r.interrupt(2 * mib)
	r.req.NoMetalink = true
	r.req.Access.NoReferer = true // the mirror may get a request of the first run late
	r.right(origin.Content)
	for _, q := range mirror.Requests() {
		if q.Header.Get("Referer") == "" {
			t.Errorf("the mirror was asked: %+v", q)
		}
	}
}

// Proves S5 and S8: preferred mirrors come first, then those of lower pri.
func TestOrderOfMirrors_S5_S8(t *testing.T) {
	t.Parallel()
	const size = 12 * mib
	var all []*mirrortest.Server
	for range 4 {
		all = append(all, sized(t, size, mirrortest.Rate(mib)))
	}
	link := func(i int, rest string) string { return fmt.Sprintf("<%s>; rel=duplicate; %s", all[i].URL, rest) }
	origin := sized(t, size, mirrortest.Rate(4*mib), mirrortest.Digest(), mirrortest.Link(
		link(0, "pri=20"), link(1, "pri=3"), link(2, "pri=nonsense"), link(3, "pri=500; pref")))
	origin.Set(held(4*mib, requested(all[3], all[1])))
	r := newRun(t, origin.URL)
	r.client.Growth = scheduler.GrowSingle
	r.right(origin.Content)
	var order []string
	for _, ev := range saw[download.RangeStarted](r) {
		if ev.URL != origin.URL && !slices.Contains(order, ev.URL) {
			order = append(order, ev.URL)
		}
	}
	if want := urlsOf(all[3], all[1], all[0], all[2]); len(order) < 2 || !slices.Equal(order, want[:len(order)]) {
		t.Errorf("asked %v, want %v", order, want)
	}
	asked(t, all[3], true)
	asked(t, all[1], true)
}
