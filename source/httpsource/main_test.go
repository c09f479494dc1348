package httpsource

import (
	"context"
	"testing"

	"braid/byterange"
	"braid/internal/test/leaktest"
	"braid/internal/test/mirrortest"
	"braid/internal/test/sourcetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// whole asks for the file as such.
var whole = sourcetest.Whole

func part(start, end int64) byterange.Range { return byterange.Range{Start: start, End: end} }

// newClient is a client whose connections end with the test. It uses no proxy.
func newClient(t *testing.T, servers ...*mirrortest.Server) *Client {
	c := &Client{}
	for _, s := range servers {
		if s.CertPEM != nil {
			c.TLS = trusting(servers...)
		}
	}
	t.Cleanup(c.CloseIdle)
	return c
}

// fetch gets r of the file at rawURL into a new sink.
func fetch(t *testing.T, c *Client, rawURL string, o Options, r byterange.Range) (*sourcetest.Sink, error) {
	t.Helper()
	k := &sourcetest.Sink{T: t}
	return k, c.Source(sourcetest.URL(t, rawURL), o).Fetch(t.Context(), r, k)
}

// mustFetch is a fetch that works.
func mustFetch(t *testing.T, c *Client, rawURL string, o Options, r byterange.Range) *sourcetest.Sink {
	t.Helper()
	k, err := fetch(t, c, rawURL, o, r)
	if err != nil {
		t.Fatalf("fetch %v: %v", r, err)
	}
	return k
}

// reuses wants connections to have served several requests each. Not all do on a busy machine: net/http closes one
// whose request is not known to be written after 50 ms, and what the rest of a body may take is over at times.
func reuses(t *testing.T, s *mirrortest.Server) {
	t.Helper()
	if n := len(s.Requests()); s.Connections() >= n {
		t.Errorf("%d connections for %d requests", s.Connections(), n)
	}
}

// canceled is a context that has ended.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
