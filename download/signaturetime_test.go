package download

import (
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	"braid/internal/small"
	"braid/internal/test/mirrortest"
	"braid/source/httpsource"
)

// Signatures whose servers drip have the time of one document in total, however many are named. Proves rule
// 21.
func TestSignaturesShareATime_Rule21(t *testing.T) {
	t.Parallel()
	hc := network{Client: &httpsource.Client{}, timeout: time.Second}
	defer hc.CloseIdle()
	var all []Signature
	var servers []*mirrortest.Server
	for i := range 8 {
		s := mirrortest.New(t, make([]byte, 100_000), mirrortest.Name(fmt.Sprint(i)), mirrortest.Rate(100))
		u, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		all, servers = append(all, Signature{URL: u, From: s.URL}), append(servers, s)
	}
	got := signaturesAt(t.Context(), hc, all, &Request{URL: all[0].URL}, false)
	if len(got) != len(all) || !errors.Is(got[len(got)-1].err, small.ErrSlow) {
		t.Errorf("%d signatures, the last one: %v", len(got), got[len(got)-1].err)
	}
	asked := 0
	for _, s := range servers {
		asked += len(s.Requests())
	}
	if asked > len(all)/2 { // the first takes all of the time, unless it counts as silent on a busy machine
		t.Errorf("%d servers were asked", asked)
	}
}
