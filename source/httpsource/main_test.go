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

// whole requests the file without a Range.
var whole = sourcetest.Whole

func part(start, end int64) byterange.Range { return byterange.Range{Start: start, End: end} }

// newClient returns a client without a proxy whose connections are closed at the end of the test.
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

// fetch fetches r of the file at rawURL into a new sink.
func fetch(t *testing.T, c *Client, rawURL string, o Options, r byterange.Range) (*sourcetest.Sink, error) {
	t.Helper()
	k := &sourcetest.Sink{T: t}
	return k, c.Source(sourcetest.URL(t, rawURL), o).Fetch(t.Context(), r, k)
}

// mustFetch is like fetch and checks that it succeeds.
func mustFetch(t *testing.T, c *Client, rawURL string, o Options, r byterange.Range) *sourcetest.Sink {
	t.Helper()
	k, err := fetch(t, c, rawURL, o, r)
	if err != nil {
		t.Fatalf("fetch %v: %v", r, err)
	}
	return k
}

// reuses checks that connections were used for several requests. Not every connection is used again on a busy machine:
// net/http closes it if the request is not known to be written after 50 ms, and the time to read the rest of a body may
// run out.
func reuses(t *testing.T, s *mirrortest.Server) {
	t.Helper()
	if n := len(s.Requests()); s.Connections() >= n {
		t.Errorf("%d connections for %d requests", s.Connections(), n)
	}
}

// canceled returns a context that is cancelled.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
