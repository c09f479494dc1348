package download_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/verify"
)

// The server states the digest and a mirror, and redirects to another mirror, which has a file of another
// size. Only that mirror states this size: the first one still has the file. Proves rules 39 and 40.
func TestSizeOfAMirrorIsNotTheServers_Rule39_Rule40(t *testing.T) {
	t.Parallel()
	const size = 2 * mib
	slow := mirrortest.Rate(mib) // the good one is asked meanwhile, and left out for its size
	for name, tt := range map[string]struct {
		size    int64
		options []mirrortest.Option
	}{
		"shorter": {size - 5000, nil}, "much shorter": {size / 2, nil}, "longer": {size + 5000, nil},
		"shorter and slow": {size - 5000, []mirrortest.Option{slow}}, "longer and slow": {size + 5000, []mirrortest.Option{slow}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			good, bad := sized(t, size), sized(t, tt.size, tt.options...)
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Digest", verify.Field(good.Digest()))
				w.Header().Set("Link", "<"+good.URL+">; rel=duplicate")
				http.Redirect(w, r, bad.URL, http.StatusFound)
			}))
			t.Cleanup(front.Close)
			r := newRun(t, front.URL+"/file.bin")
			verified(t, r.right(good.Content), byDigest)
			if len(saw[download.Restarted](r)) > 1 {
				t.Errorf("%+v", r.events)
			}
		})
	}
}
