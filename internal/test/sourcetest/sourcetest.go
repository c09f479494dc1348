// Package sourcetest is what the tests of sources have in common: a sink that fails the test when a source breaks the contract of
// source.Sink, and checks of what came into it and of the errors that sources give. Only tests import it.
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

// most is how many bytes a source may give at once.
const most = 256 << 10

// Whole asks for a file as such.
var Whole = byterange.Range{End: byterange.Unbounded}

// A Sink keeps what comes. Its exported fields but T are set before the fetch that it is for, or read after it.
type Sink struct {
	T       testing.TB
	Refuse  error                        // what Answer says
	Limit   int64                        // ErrEnough from here on; 0: no limit
	Writing func(off int64, n int) error // if set, what WriteAt says first

	Heard *source.Answer // nil before there was one
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

// A File is what a server has.
type File interface {
	io.ReaderAt
	Size() int64
}

// Has compares what came with a part of the file, which is that of r that the file has.
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

// Fault wants err to be a *source.Error of a kind that says where.
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

// URL parses what must be one.
func URL(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
