package download_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"braid/download"
	"braid/verify"
)

// The server gives the digest and a mirror, and redirects to another mirror that has a file of another size. That size is one mirror's
// word: the other one has the file all the same. Proves rules 39 and 40.
func TestSizeOfAMirrorIsNotTheServers_Rule39_Rule40(t *testing.T) {
	t.Parallel()
	const size = 2 * mib
	for name, other := range map[string]int64{"shorter": size - 5000, "much shorter": size / 2, "longer": size + 5000} {
		t.Run(name, func(t *testing.T) {
			good, bad := sized(t, size), sized(t, other)
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Digest", verify.Field(good.Digest()))
				w.Header().Set("Link", "<"+good.URL+">; rel=duplicate")
				http.Redirect(w, r, bad.URL, http.StatusFound)
			}))
			defer front.Close()
			r := newRun(t, front.URL+"/file.bin")
			verified(t, r.right(good.Content), byDigest)
			if len(saw[download.Restarted](r)) > 1 {
				t.Errorf("%+v", r.events)
			}
		})
	}
}
