// Package sourcetest has the common parts of the tests of sources: a sink that fails the test if a source breaks the
// contract of source.Sink, and checks of the received bytes and of errors. It must be imported only by tests.
package sourcetest

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"sync"
	"testing"

	"braid/byterange"
	"braid/source"
)

// most is the maximum number of bytes in one call of WriteAt.
const most = 256 << 10

// Whole is the range for a whole file.
var Whole = byterange.Range{End: byterange.Unbounded}

// Sink stores the received bytes. Except for T, its exported fields are set before the fetch or read after it.
type Sink struct {
	T       testing.TB
	Refuse  error                        // result of Answer
	Limit   int64                        // WriteAt returns ErrEnough from this offset on; 0 means no limit
	Writing func(off int64, n int) error // if set, called first by WriteAt

	Heard *source.Answer // nil before the first Answer
	Data  []byte         // from Heard.Start on

	mu sync.Mutex
}

// Answer implements source.Sink.
func (k *Sink) Answer(a source.Answer) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.Heard != nil {
		k.T.Error("a second Answer")
	}
	k.Heard = &a
	return k.Refuse
}

// WriteAt implements source.Sink.
func (k *Sink) WriteAt(p []byte, off int64) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.Heard == nil {
		k.T.Fatal("bytes before an Answer")
	}
	if k.Refuse != nil {
		k.T.Error("bytes of a body that was refused")
	}
	if want := k.Heard.Start + int64(len(k.Data)); off != want {
		k.T.Errorf("bytes at %d, want them at %d", off, want)
	}
	if len(p) == 0 || len(p) > most {
		k.T.Errorf("%d bytes at once", len(p))
	}
	if k.Writing != nil {
		if err := k.Writing(off, len(p)); err != nil {
			return 0, err
		}
	}
	n := len(p)
	if k.Limit > 0 {
		n = max(0, min(n, int(k.Limit-off)))
	}
	k.Data = append(k.Data, p[:n]...)
	if n < len(p) {
		return n, source.ErrEnough
	}
	return n, nil
}

// File is the content of a server.
type File interface {
	io.ReaderAt
	Size() int64
}

// Has checks that the received bytes are those of the range r, cut to the size of the file.
func (k *Sink) Has(content File, r byterange.Range) {
	k.T.Helper()
	r.End = min(r.End, content.Size())
	want, err := io.ReadAll(io.NewSectionReader(content, r.Start, r.Len()))
	if err != nil {
		k.T.Fatal(err)
	}
	if !bytes.Equal(k.Data, want) {
		k.T.Errorf("got %d bytes, want the %d of %v", len(k.Data), len(want), r)
	}
}

// Fault checks that err is a *source.Error of the given kind with a URL and a host.
func Fault(t testing.TB, err error, fault source.Fault, retry bool) *source.Error {
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

// URL parses a URL, which must be valid.
func URL(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
