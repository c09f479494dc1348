package ftpsource

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/url"
	"sync"
	"testing"
	"time"

	"braid/byterange"
	"braid/internal/ftptest"
	"braid/internal/mirrortest"
	"braid/source"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	whole = byterange.Range{End: byterange.Unbounded}
	file  = mirrortest.Generate(1<<20+123, 1)
)

func part(start, end int64) byterange.Range { return byterange.Range{Start: start, End: end} }

// A sink keeps what comes, and fails the test if the contract of source.Sink is broken.
type sink struct {
	t      *testing.T
	refuse error // what Answer says
	limit  int64 // ErrEnough from here on; 0: no limit
	wrote  func()

	mu     sync.Mutex
	answer *source.Answer
	data   []byte // from answer.Start on
}

func (k *sink) Answer(a source.Answer) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.answer != nil {
		k.t.Error("a second Answer")
	}
	k.answer = &a
	return k.refuse
}

func (k *sink) WriteAt(p []byte, off int64) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.answer == nil || k.refuse != nil {
		k.t.Fatal("bytes that nobody wants")
	}
	if want := k.answer.Start + int64(len(k.data)); off != want {
		k.t.Errorf("bytes at %d, want them at %d", off, want)
	}
	if len(p) == 0 || len(p) > 256<<10 {
		k.t.Errorf("%d bytes at once", len(p))
	}
	if k.wrote != nil {
		k.wrote()
	}
	n := len(p)
	if k.limit > 0 {
		n = max(0, min(n, int(k.limit-off)))
	}
	k.data = append(k.data, p[:n]...)
	if n < len(p) {
		return n, source.ErrEnough
	}
	return n, nil
}

func newClient(t *testing.T) *Client {
	c := &Client{}
	t.Cleanup(c.CloseIdle)
	return c
}

func parse(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// fetch gets r of the file at rawURL into a new sink.
func fetch(t *testing.T, c *Client, rawURL string, o Options, r byterange.Range) (*sink, error) {
	t.Helper()
	k := &sink{t: t}
	return k, c.Source(parse(t, rawURL), o).Fetch(t.Context(), r, k)
}

// mustFetch is a fetch that works and brings the right bytes.
func mustFetch(t *testing.T, c *Client, rawURL string, o Options, r byterange.Range) *sink {
	t.Helper()
	k, err := fetch(t, c, rawURL, o, r)
	if err != nil {
		t.Fatalf("fetch %v: %v", r, err)
	}
	wantBytes(t, k, r)
	return k
}

// wantBytes compares what a sink got with the part of the file.
func wantBytes(t *testing.T, k *sink, r byterange.Range) {
	t.Helper()
	end := min(r.End, file.Size())
	want, err := io.ReadAll(io.NewSectionReader(file, r.Start, end-r.Start))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(k.data, want) {
		t.Errorf("got %d bytes, want the %d of %v", len(k.data), len(want), r)
	}
}

// wantFault checks that err is a *source.Error of this kind.
func wantFault(t *testing.T, err error, fault source.Fault, retry bool) *source.Error {
	t.Helper()
	e, ok := errors.AsType[*source.Error](err)
	if !ok {
		t.Fatalf("error is %v (%T), want a *source.Error", err, err)
	}
	if e.Fault != fault || e.Retry != retry {
		t.Errorf("error %q: fault %v, retry %v; want %v, %v", e, e.Fault, e.Retry, fault, retry)
	}
	if e.URL == "" || e.Host == "" {
		t.Errorf("error %q does not say where: URL %q, host %q", e, e.URL, e.Host)
	}
	return e
}

// within fails a test that waits for what it should not wait for.
func within(t *testing.T, most time.Duration, f func()) {
	t.Helper()
	began := time.Now()
	f()
	if took := time.Since(began); took > most {
		t.Errorf("took %v, want at most %v", took, most)
	}
}

// trusting is a client for servers with this certificate.
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
