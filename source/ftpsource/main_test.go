package ftpsource

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"braid/byterange"
	"braid/internal/test/ftptest"
	"braid/internal/test/leaktest"
	"braid/internal/test/mirrortest"
	"braid/internal/test/sourcetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var (
	whole = sourcetest.Whole
	file  = mirrortest.Generate(1<<20+123, 1)
)

func part(start, end int64) byterange.Range { return byterange.Range{Start: start, End: end} }

func newClient(t *testing.T) *Client {
	c := &Client{CloseTimeout: time.Minute} // a reply may be late on a busy machine
	t.Cleanup(c.CloseIdle)
	return c
}

// fetch fetches r of the file at rawURL into a new sink.
func fetch(t *testing.T, c *Client, rawURL string, o Options, r byterange.Range) (*sourcetest.Sink, error) {
	t.Helper()
	k := &sourcetest.Sink{T: t}
	return k, c.Source(sourcetest.URL(t, rawURL), o).Fetch(t.Context(), r, k)
}

// mustFetch is like fetch and checks that it succeeds and returns the right bytes.
func mustFetch(t *testing.T, c *Client, rawURL string, o Options, r byterange.Range) *sourcetest.Sink {
	t.Helper()
	k, err := fetch(t, c, rawURL, o, r)
	if err != nil {
		t.Fatalf("fetch %v: %v", r, err)
	}
	k.Has(file, r)
	return k
}

// trusting returns a client that trusts this certificate.
func trusting(t *testing.T, pem []byte) *Client {
	c := newClient(t)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	c.TLS = &tls.Config{RootCAs: pool}
	return c
}

func newServer(t *testing.T, options ...ftptest.Option) *ftptest.Server {
	return ftptest.New(t, file, options...)
}
