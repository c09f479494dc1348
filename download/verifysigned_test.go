package download_test

import (
	"fmt"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/mirrortest"
)

// The signatures of a file, from servers that drip, have the time of one document in total, whatever reads
// them. Proves rule 21.
func TestDrippingSignatures_Rule21(t *testing.T) {
	t.Parallel()
	origin := sized(t, 64<<10, mirrortest.Digest())
	var all []download.Signature
	var asked []func() int
	for i := range 8 {
		s := mirrortest.New(t, make([]byte, 100_000), mirrortest.Name(fmt.Sprint(i)), mirrortest.Rate(100))
		asked = append(asked, func() int { return len(s.Requests()) })
		all = append(all, download.Signature{URL: parse(t, s.URL), From: s.URL})
	}
	for what, read := range map[string]func(r *run) int{
		"verify": func(r *run) int {
			r.onDisk(made(64<<10, 7))
			r.verify(download.NoEvidence)
			return len(saw[download.Note](r))
		},
		"plan": func(r *run) int {
			h, _ := r.plan()
			return len(h.Signed)
		},
		"probe": func(r *run) int {
			return len(r.client.Evidence(t.Context(), r.req, download.Offer{}).Signatures)
		},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRun(t, origin.URL)
			r.client.Timeout = 300 * time.Millisecond
			r.req.Trust.Signatures, r.req.Trust.Anchors, r.req.Trust.Require = all, trusts(t, newSigner(t, "alice")),
				download.RequireSignature
			before := 0
			for _, n := range asked {
				before += n()
			}
			if n := read(r); n != len(all) {
				t.Errorf("it tells of %d signatures", n)
			}
			now := 0
			for _, n := range asked {
				now += n()
			}
			// the first takes all of the time, unless it counts as silent on a busy machine
			if now-before > len(all)/2 {
				t.Errorf("%d servers were asked", now-before)
			}
		})
	}
}
