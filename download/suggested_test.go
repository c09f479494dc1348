package download_test

import (
	"testing"

	"braid/address"
	"braid/internal/test/mirrortest"
	"braid/metalink"
	"braid/verify"
)

// TestSuggested_Rule81: a place that a feed suggests is used only once the user or the server has stated a strong digest,
// and wrong bytes of it are not.
func TestSuggested_Rule81(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		origin    []mirrortest.Option
		published bool
		seed      uint64
		asked     bool
	}{
		"proven":               {[]mirrortest.Option{mirrortest.Digest()}, false, 7, true},
		"wrong":                {[]mirrortest.Option{mirrortest.Digest()}, false, 8, true},
		"published":            {nil, true, 7, true},
		"published, and wrong": {nil, true, 8, true},
		"not proven":           {nil, false, 7, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mirror := mirrortest.New(t, made(6*mib, tt.seed))
			origin := sized(t, 6*mib, tt.origin...)
			if origin.Set(waiting(4*mib, mirror)); !tt.asked {
				origin.Set(waiting(4 * mib))
			}
			r := newRun(t, origin.URL)
			r.req.Published.Mirrors = []metalink.Mirror{{URL: parse(t, mirror.URL), By: address.Loopback}}
			if tt.published {
				r.req.Published.Claims = []verify.Claim{{Digest: origin.Content.Digest(), Field: "the feed f",
					Channel: verify.HTTP}}
			}
			r.right(origin.Content)
			asked(t, mirror, tt.asked)
		})
	}
}

// TestSuggestedInside_Rule81: a suggestion leads to no internal host.
func TestSuggestedInside_Rule81(t *testing.T) {
	t.Parallel()
	mirror := sized(t, 4*mib)
	origin := sized(t, 4*mib, mirrortest.Digest())
	r := newRun(t, origin.URL)
	r.req.Published.Mirrors = []metalink.Mirror{{URL: parse(t, mirror.URL)}}
	r.right(origin.Content)
	asked(t, mirror, false)
}
