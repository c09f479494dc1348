package download

import (
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
	"braid/source/httpsource"
)

// Signatures whose servers drip have together the time of one document, however many are named. Proves rule 21.
func TestSignaturesShareATime_Rule21(t *testing.T) {
	hc := network{Client: &httpsource.Client{}, timeout: 100 * time.Millisecond}
	defer hc.CloseIdle()
	var all []Signature
	for i := range 8 {
		s := mirrortest.New(t, make([]byte, 100_000), mirrortest.Name(fmt.Sprint(i)), mirrortest.Rate(100))
		u, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Signature{URL: u, From: s.URL})
	}
	begun := time.Now()
	got := signaturesAt(t.Context(), hc, all, &Request{URL: all[0].URL}, false)
	if took := time.Since(begun); took > 3*longest*hc.timeout || len(got) != len(all) {
		t.Errorf("%d signatures took %v", len(got), took)
	}
	for _, f := range got {
		if !errors.Is(f.err, errSlow) {
			t.Errorf("%s: %v", f.from, f.err)
		}
	}
}
