package download_test

import (
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
)

// Proves rule 63 for a source asked alone: a mirror that the server named leads no nearer than the server
// itself.
func TestAloneButNotAnywhere_Rule63(t *testing.T) {
	t.Parallel()
	inside := sized(t, mib)
	origin := sized(t, mib, mirrortest.Digest(), mirrortest.Corrupt(100), mirrortest.Mirrors(cellar(t, inside)))
	newRun(t, origin.URL).wrong(download.Mismatch)
	untouched(t, inside)
}

// Proves rule 64 for a source asked alone: the digest still counts if the server is gone or does not repeat
// it.
func TestAloneByTheFirstWord_Rule40_Rule64(t *testing.T) {
	t.Parallel()
	bad := mirrortest.Corrupt(every(mib/16, 4*mib)...)
	t.Run("the server is gone", func(t *testing.T) {
		t.Parallel()
		mirror := sized(t, 4*mib, bad, mirrortest.Rate(2*mib))
		origin := sized(t, 4*mib, mirrortest.Rate(2*mib), mirrortest.Digest(), mirrortest.Mirrors(mirror.URL))
		r := newRun(t, origin.URL)
		r.interrupt(mib)
		origin.Die()
		r.client.Tries = 2
		r.wrong(download.Mismatch)
	})
	t.Run("the server says less", func(t *testing.T) {
		t.Parallel()
		origin := sized(t, 4*mib, bad)
		origin.Set(mirrortest.Once(mirrortest.Digest()))
		r := newRun(t, origin.URL)
		r.wrong(download.Mismatch)
		if n := len(origin.Requests()); n != 2 {
			t.Errorf("%d requests", n)
		}
	})
}

// Proves rule 47 for a source asked alone: the signature that the server described is demanded of the file,
// wherever it comes from.
func TestAloneAndSigned_Rule47(t *testing.T) {
	t.Parallel()
	alice := newSigner(t, "alice")
	mirror := sized(t, mib)
	origin := sized(t, mib, mirrortest.Digest(), mirrortest.Corrupt(mib/2),
		mirrortest.Link(pgpLink, "<"+mirror.URL+">; rel=duplicate"),
		mirrortest.Document("/file.bin.asc", "application/pgp-signature", alice.sign(t, made(mib, 7))))
	r := newRun(t, origin.URL)
	r.req.Trust.Anchors, r.req.Trust.Require = trusts(t, alice), download.RequireSignature
	if res := r.right(origin.Content); !res.Proof.Signed() {
		t.Errorf("not signed: %v", res.Proof)
	}
}
