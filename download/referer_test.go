package download_test

import (
	"crypto/tls"
	"net/url"
	"testing"

	"braid/download"
	"braid/internal/partfile"
	"braid/internal/test/mirrortest"
	"braid/verify"
)

// Proves S14 and rule 28: mirrors get the original URL in Referer, unless it has a password.
func TestReferer_S14_Rule28(t *testing.T) {
	t.Parallel()
	for _, private := range []bool{false, true} {
		mirror := sized(t, 8*mib, mirrortest.Rate(6*mib))
		origin := sized(t, 8*mib, held(6*mib, requested(mirror)), mirrortest.Digest(), mirrortest.Mirrors(mirror.URL))
		r := newRun(t, origin.URL)
		want := origin.URL
		if private {
			r.req.Access.User = url.UserPassword("me", "secret")
			want = ""
		}
		r.right(origin.Content)
		asked(t, mirror, true)
		for _, q := range mirror.Requests() {
			if got := q.Header.Get("Referer"); got != want {
				t.Errorf("Referer %q, want %q", got, want)
			}
		}
	}
}

// Proves rule 26 for whole downloads: a mirror may redirect from https to http only if a strong digest came
// over https or from the user.
func TestMirrorDowngrade_Rule26(t *testing.T) {
	t.Parallel()
	for _, trusted := range []bool{true, false} {
		plain := sized(t, 8*mib, mirrortest.Rate(6*mib))
		mirror := sized(t, 8*mib, mirrortest.TLS(nil), mirrortest.Redirect(plain.URL))
		origin := sized(t, 8*mib, mirrortest.Rate(6*mib), mirrortest.Digest(), mirrortest.Mirrors(mirror.URL))
		r := newRun(t, origin.URL)
		r.tls = &tls.Config{RootCAs: mirrortest.Pool(mirror)}
		if trusted {
			r.req.Trust.Claims = userClaim(origin.Digest())
			origin.Set(held(6*mib, requested(plain)))
		}
		r.right(origin.Content)
		asked(t, plain, trusted)
	}
}

// Proves rule 26 after an interruption: a digest given to an earlier run yields, so it allows no redirect
// from https to http. The bytes are kept. A digest that the server gave over https allows it.
func TestRecalledDowngrade_Rule26(t *testing.T) {
	t.Parallel()
	for name, channel := range map[string]verify.Channel{"of the user": verify.User, "of the server": verify.HTTPS} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plain := sized(t, mib)
			origin := sized(t, mib, mirrortest.TLS(nil), mirrortest.Redirect(plain.URL))
			r := newRun(t, origin.URL)
			r.tls = &tls.Config{RootCAs: mirrortest.Pool(origin)}
			if err := r.key().Make(); err != nil {
				t.Fatal(err)
			}
			claim := verify.Claim{Digest: origin.Digest(), Field: "it", Channel: channel}
			r.plant(partfile.Identity{Size: mib, Claims: []verify.Claim{claim}}, made(mib, 7)[:mib/2], r.key())
			if channel == verify.HTTPS {
				r.right(origin.Content)
				return
			}
			if e := r.wrong(download.Refused); e.Kept != mib/2 {
				t.Errorf("%d bytes are kept: %v", e.Kept, e)
			}
			asked(t, plain, false)
		})
	}
}

// Proves rules 26 and 64: an answer over http does not announce another version to a download with a digest
// that came over https, even if the user gave one to an earlier run.
func TestAnnouncedOverHTTP_Rule26_Rule64(t *testing.T) {
	t.Parallel()
	for _, recalled := range []bool{false, true} {
		plain := mirrortest.New(t, made(mib, 8), mirrortest.Digest())
		origin := sized(t, mib, mirrortest.TLS(nil), mirrortest.Redirect(plain.URL))
		r := newRun(t, origin.URL)
		r.tls = &tls.Config{RootCAs: mirrortest.Pool(origin)}
		if err := r.key().Make(); err != nil {
			t.Fatal(err)
		}
		claims := []verify.Claim{{Digest: origin.Digest(), Field: "Digest", Channel: verify.HTTPS}}
		if recalled {
			claims = append(claims, userClaim(origin.Digest())...)
		}
		r.plant(partfile.Identity{Size: mib, Claims: claims}, made(mib, 7)[:mib/2], r.key())
		if e := r.wrong(download.Mismatch); e.Kept != mib/2 {
			t.Errorf("%d bytes are kept: %v", e.Kept, e)
		}
	}
}
