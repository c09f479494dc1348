package download_test

import (
	"errors"
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/source"
	"braid/verify"
)

// Failures of mirrors are kept without their answers: 200 mirrors may have led through 10 redirects each,
// with 256 KiB of fields. The user named these mirrors. Proves rule 20.
func TestFailuresAreSmall_Rule20(t *testing.T) {
	server := sized(t, mib, mirrortest.Digest(), mirrortest.CutAfter(1000))
	r := newRun(t, server.URL)
	r.client.Tries = 1
	r.req.Trust.Claims = []verify.Claim{{Digest: server.Digest(), Channel: verify.User, Field: "--sha256"}}
	gone := sized(t, mib, mirrortest.Status(404))
	for range 3 {
		m := sized(t, mib, mirrortest.HugeHeader(100<<10), mirrortest.Link("<"+server.URL+">; rel=duplicate"),
			mirrortest.Redirect(gone.URL))
		r.req.Mirrors = append(r.req.Mirrors, parse(t, m.URL))
	}
	_, err := r.get()
	var none *download.NoSourceError
	if !errors.As(err, &none) || len(none.Errs) < 4 {
		t.Fatalf("the error is %v", err)
	}
	for _, failed := range none.Errs {
		var e *source.Error
		if errors.As(failed, &e) && e.Status == 404 && len(e.Hops) > 0 {
			t.Errorf("%v: keeps %d answers", e, len(e.Hops))
		}
	}
}
