package metalink

import (
	"net/url"
	"testing"
)

// TestProven_Rule64 checks that only https with a verified certificate proves who sent a response (rule 64).
func TestProven_Rule64(t *testing.T) {
	for _, tt := range []struct {
		url      string
		unproven bool
		want     bool
	}{{"https://a.example/", false, true}, {"https://a.example/", true, false}, {"http://a.example/", false, false}} {
		u, err := url.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		if got := (Hop{URL: u, Unproven: tt.unproven}).Proven(); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}
