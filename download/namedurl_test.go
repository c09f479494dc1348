package download_test

import (
	"errors"
	"testing"

	"braid/address"
	"braid/download"
)

// TestNamedURL_Rule63: a URL that a server named leads no nearer than that server is, in every request.
func TestNamedURL_Rule63(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for named, near := range map[address.Scope]bool{0: true, address.Public: false, address.Public | address.Loopback: true} {
		u := parse(t, many(s, 1)[0])
		_, err := new(download.Client).Get(t.Context(), download.Request{URL: u, Named: named, Dir: t.TempDir()})
		var refused *address.Error
		if near != (err == nil) || !near && !errors.As(err, &refused) {
			t.Errorf("%v: %v", named, err)
		}
		_, err = new(download.Client).Plan(t.Context(), download.Request{URL: u, Named: named, Dir: t.TempDir()})
		if near != (err == nil) {
			t.Errorf("plan, %v: %v", named, err)
		}
	}
}
