package httpsource

import (
	"testing"

	"braid/internal/test/mirrortest"
	"braid/internal/test/sourcetest"
	"braid/source"
)

// TestGzip checks that a compressed file is delivered as it was sent if Options.Gzip is set, and that gzip is refused
// otherwise and for ranges (rule 18).
func TestGzip(t *testing.T) {
	s := mirrortest.New(t, file)
	c := newClient(t)
	asked := func() string {
		requests := s.Requests()
		return requests[len(requests)-1].Header.Get("Accept-Encoding")
	}
	for _, coding := range []string{"gzip", " X-Gzip "} {
		s.Reset(mirrortest.ContentEncoding(coding))
		k := mustFetch(t, c, s.URL, Options{Gzip: true}, whole)
		k.Has(file, whole)
		if asked() != "gzip" {
			t.Errorf("Accept-Encoding is %q", asked())
		}
		_, err := fetch(t, c, s.URL, Options{}, whole)
		sourcetest.Fault(t, err, source.FaultProtocol, false)
		_, err = fetch(t, c, s.URL, Options{Gzip: true}, part(0, 10))
		sourcetest.Fault(t, err, source.FaultProtocol, false)
		if asked() != "identity" {
			t.Errorf("Accept-Encoding is %q for a range", asked())
		}
	}
	for _, coding := range []string{"br", "gzip, gzip"} {
		s.Reset(mirrortest.ContentEncoding(coding))
		_, err := fetch(t, c, s.URL, Options{Gzip: true}, whole)
		sourcetest.Fault(t, err, source.FaultProtocol, false)
	}
}
