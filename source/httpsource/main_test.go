package httpsource

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/url"
	"sync"
	"testing"

	"braid/byterange"
	"braid/internal/mirrortest"
	"braid/source"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// whole asks for the file as such.
var whole = byterange.Range{End: byterange.Unbounded}

func part(start, end int64) byterange.Range { return byterange.Range{Start: start, End: end} }

// A sink keeps what comes, and fails the test if the contract of source.Sink is broken.
type sink struct {
	t       *testing.T
	refuse  error                        // what Answer says
	limit   int64                        // ErrEnough from here on; 0: no limit
	writing func(off int64, n int) error // if set, what WriteAt says

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
	if k.answer == nil {
		k.t.Fatal("bytes before an Answer")
	}
	if k.refuse != nil {
		k.t.Error("bytes of a body that was refused")
	}
	if want := k.answer.Start + int64(len(k.data)); off != want {
		k.t.Errorf("bytes at %d, want them at %d", off, want)
	}
	if len(p) == 0 || len(p) > 256<<10 {
		k.t.Errorf("%d bytes at once", len(p))
	}
	if k.writing != nil {
		if err := k.writing(off, len(p)); err != nil {
			return 0, err
		}
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

// mustFetch is a fetch that works.
func mustFetch(t *testing.T, c *Client, rawURL string, o Options, r byterange.Range) *sink {
	t.Helper()
	k, err := fetch(t, c, rawURL, o, r)
	if err != nil {
		t.Fatalf("fetch %v: %v", r, err)
	}
	return k
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

// wantBytes compares what a sink got with the part of the file.
func wantBytes(t *testing.T, k *sink, content mirrortest.Content, r byterange.Range) {
	t.Helper()
	want, err := io.ReadAll(io.NewSectionReader(content, r.Start, r.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(k.data, want) {
		t.Errorf("got %d bytes, want the %d of %v", len(k.data), len(want), r)
	}
}

// canceled is a context that has ended.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
