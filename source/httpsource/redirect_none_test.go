package httpsource

import (
	"errors"
	"testing"

	"braid/internal/test/mirrortest"
	"braid/source"
)

// TestNoRedirect_Rule27: a request that may not be led elsewhere sends nothing to where a redirect leads.
func TestNoRedirect_Rule27(t *testing.T) {
	away := mirrortest.New(t, file)
	s := mirrortest.New(t, file, mirrortest.Redirect(away.URL))
	_, err := fetch(t, newClient(t), s.URL, Options{NoRedirect: true}, whole)
	if e, ok := errors.AsType[*source.Error](err); !ok || e.Fault != source.FaultRefused || len(e.Hops) != 1 {
		t.Errorf("%v", err)
	}
	if n := len(away.Requests()); n > 0 {
		t.Errorf("%d requests to where it leads", n)
	}
}
