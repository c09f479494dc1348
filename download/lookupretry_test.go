package download_test

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"braid/download"
	"braid/source"
)

// TestLookupRetryAfter: a server that answers its index, a list or the signature of one with Retry-After is still asked
// for its files.
func TestLookupRetryAfter_Rules66_77(t *testing.T) {
	for name, busy := range map[string][]string{
		"index":     {"/pub/"},
		"list":      {"/pub/SHA256SUMS"},
		"signature": {"/pub/SHA256SUMS.asc", "/pub/SHA256SUMS.sig", "/pub/SHA256SUMS.sign", "/pub/SHA256SUMS.gpg"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := book()
			line := sum256(file)
			s := newFolderSite(t, "SHA256SUMS", line+"  1.iso\n"+line+"  2.iso\n"+line+"  3.iso\n")
			s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				if slices.Contains(busy, q.URL.Path) {
					w.Header().Set("Retry-After", "3600")
					http.Error(w, "busy", http.StatusServiceUnavailable)
					return
				}
				s.ServeHTTP(w, q)
			})
			signed := name == "signature"
			var requests []download.Request
			for _, name := range []string{"1.iso", "2.iso", "3.iso"} {
				s.files[name] = file
				r := download.Request{
					URL: parse(t, s.URL+"/pub/"+name), Dir: t.TempDir(), Trust: download.Trust{Lookup: true},
				}
				if signed {
					r.Trust.Anchors = trusts(t, newSigner(t, "alice"))
				}
				requests = append(requests, r)
			}
			var c download.Client
			ctx := download.WithLookupGrace(t.Context(), time.Hour)
			ended := func(_ int, q download.Request, _ download.Result, err error) {
				if errors.Is(err, source.ErrNotAsked) || err != nil && !signed {
					t.Errorf("%v: %v", q.URL, err)
				}
			}
			c.GetAll(ctx, slices.Values(requests), download.Batch{AtOnce: 1, Ended: ended})
		})
	}
}
