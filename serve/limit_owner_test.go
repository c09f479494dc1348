package serve

import (
	"net/netip"
	"testing"
)

func TestOwnerOf(t *testing.T) {
	for a, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::",
		"fe80::1%eth0": "fe80::", "::1": "::1",
	} {
		if got := ownerOf(netip.MustParseAddr(a)); got.String() != want {
			t.Errorf("%s: %v, want %s", a, got, want)
		}
	}
}
