package download_test

import (
	"testing"

	"braid/address"
	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/metalink"
	"braid/verify"
)

// TestPublishedHolds_Rule81: the digest of a feed holds whoever sends the file, also if its server does not answer.
func TestPublishedHolds_Rule81(t *testing.T) {
	t.Parallel()
	published := func(c mirrortest.Content) []verify.Claim {
		return []verify.Claim{{Digest: c.Digest(), Field: "the feed f", Channel: verify.HTTP}}
	}
	want, wrong := mirrortest.Generate(2*mib, 7), mirrortest.Generate(2*mib, 8)
	t.Run("a mirror stands in", func(t *testing.T) {
		t.Parallel()
		origin := sized(t, 2*mib, mirrortest.Status(500))
		r := newRun(t, origin.URL)
		r.req.Published.Claims = published(want)
		r.mirrors(mirrortest.New(t, wrong))
		r.wrong(download.Mismatch)
	})
	t.Run("two mirrors stand in", func(t *testing.T) {
		t.Parallel()
		origin := sized(t, 2*mib, mirrortest.Status(500))
		user, other := mirrortest.New(t, wrong), mirrortest.New(t, want)
		user.Set(waiting(mib, other))
		r := newRun(t, origin.URL)
		r.req.Published.Claims = published(want)
		r.req.Published.Mirrors = []metalink.Mirror{{URL: parse(t, other.URL), By: address.Loopback}}
		r.mirrors(user)
		r.right(want)
	})
	t.Run("right", func(t *testing.T) {
		t.Parallel()
		origin := sized(t, 2*mib, mirrortest.Status(500))
		r := newRun(t, origin.URL)
		r.req.Published.Claims = published(want)
		r.mirrors(mirrortest.New(t, want))
		verified(t, r.right(want), "sha-256 from the feed f over http")
	})
	for _, tag := range []string{"", `"v"`} {
		t.Run("an earlier run, tag "+tag, func(t *testing.T) {
			t.Parallel()
			origin := mirrortest.New(t, wrong)
			if tag != "" {
				origin.Set(mirrortest.ETag(tag))
			}
			r := newRun(t, origin.URL)
			r.req.Published.Claims = published(want)
			r.wrong(download.Mismatch)
			origin.Set(mirrortest.Status(500))
			_, err := r.get()
			if err == nil {
				t.Error("the wrong file of the run before was taken")
			}
		})
	}
}
