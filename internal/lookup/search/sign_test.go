package search_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"braid/internal/lookup/search"
	"braid/verify"
	"braid/verify/minisign"
)

// A signer is a site whose lists are signed, if good is set.
type signer struct {
	site
	good bool
}

func (w *signer) Sign(ctx context.Context, at *url.URL, claims []verify.Claim, data []byte) (unsigned, err error) {
	w.site.Sign(ctx, at, claims, data)
	for i := range claims {
		if w.good {
			claims[i].Channel, claims[i].By = verify.Signed, verify.SignatureResult{Key: "K"}
		}
	}
	return nil, nil
}

// TestSignedOnce: the signature of a list is asked for once for all of its files, as long as it is good, the list is the
// same, and the same keys are trusted.
func TestSignedOnce(t *testing.T) {
	var list strings.Builder
	for n := range 20 {
		fmt.Fprintf(&list, "%064x  file%d\n", n+1, n)
	}
	keys := [][]verify.Trust{{minisign.Trust{Keys: make([]minisign.Key, 1)}}, {minisign.Trust{Keys: make([]minisign.Key, 1)}}}
	for _, tt := range []struct {
		good bool
		keys func(n int) []verify.Trust
		list func(n int) string
		want int
	}{
		{true, func(int) []verify.Trust { return keys[0] }, nil, 1},
		{true, func(n int) []verify.Trust { return keys[n%2] }, nil, 2},
		{true, func(int) []verify.Trust { return nil }, nil, 20},
		{true, func(int) []verify.Trust { return keys[0] }, func(n int) string { return fmt.Sprintf("%064x  other%d\n", n+1, n) }, 20},
		{false, func(int) []verify.Trust { return keys[0] }, nil, 20},
	} {
		w, shared := &signer{site{pages: map[string]string{"/pub/SHA256SUMS": list.String()}, index: true}, tt.good}, new(search.Folders)
		for n := range 20 {
			w.pages[fmt.Sprintf("/pub/file%d", n)] = ""
		}
		for n := range 20 {
			s, ok := search.New(w, shared, nil, at(t, fmt.Sprintf("file%d", n)), "")
			if !ok {
				t.Fatal("nowhere to look")
			}
			if s.Keys = tt.keys(n); tt.list != nil {
				w.pages["/pub/SHA256SUMS"], s.Anew = list.String()+tt.list(n), true
			}
			if err := s.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if c := s.Found.Claims; len(c) != 1 || (c[0].Channel == verify.Signed) != tt.good || tt.good != (c[0].By.Key == "K") {
				t.Errorf("file%d: %+v", n, c)
			}
		}
		if w.signed != tt.want {
			t.Errorf("%+v: checked %d times, want %d", tt, w.signed, tt.want)
		}
	}
}
