package download_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/source/httpsource"
)

// stream downloads into w instead of a file.
func (r *run) stream(w io.Writer) (download.Result, error) {
	r.t.Helper()
	r.req.Stream = w
	res, err := r.get()
	r.empty()
	if res.Path != "" {
		r.t.Errorf("the path is %q", res.Path)
	}
	return res, err
}

// A stream gets its bytes in order from several mirrors at once.
func TestStream(t *testing.T) {
	t.Parallel()
	const size = 12 * mib
	first, second := sized(t, size, mirrortest.Digest()), sized(t, size, mirrortest.Digest())
	together(4*mib, first, second)
	origin := vouch(t, size, first, second)
	origin.Set(waiting(2*mib, first, second))
	var out bytes.Buffer
	res, err := newRun(t, origin.URL).stream(&out)
	if err != nil || !bytes.Equal(out.Bytes(), origin.Content.Bytes()) {
		t.Fatalf("%d bytes, %v", out.Len(), err)
	}
	verified(t, res, byDigest)
	useful(t, res, first)
	useful(t, res, second)
}

func TestStreamSmall(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 1, 5000} {
		origin := sized(t, size, mirrortest.Chunked())
		var out bytes.Buffer
		r := newRun(t, "http://"+origin.Addr+"/file.bin?no=name/")
		if _, err := r.stream(&out); err != nil || int64(out.Len()) != size {
			t.Errorf("%d of %d bytes, %v", out.Len(), size, err)
		}
	}
}

var errFull = errors.New("full")

// A limited writer takes n bytes.
type limited struct{ n int }

func (w *limited) Write(p []byte) (int, error) {
	if w.n -= len(p); w.n < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// A receiver that accepts no more bytes ends the download at once, not at the end of the file.
func TestStreamToFailingWriter(t *testing.T) {
	t.Parallel()
	const size = 100 * mib // more than may be ahead of the receiver
	origin := mirrortest.New(t, mirrortest.Generate(size, 7), mirrortest.Rate(8*mib), mirrortest.ETag(`"v1"`))
	r := newRun(t, origin.URL)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r.req.Stream = &limited{n: 2 * mib}
	r.client.HTTP = &httpsource.Client{}
	defer r.client.HTTP.CloseIdle()
	_, err := r.client.Get(ctx, r.req)
	var e *download.Error
	if !errors.As(err, &e) || e.Kind != download.Local || !errors.Is(err, errFull) || e.Kept != 0 {
		t.Errorf("%+v", err)
	}
	if origin.Sent() > size/2 {
		t.Errorf("%d bytes were sent for it", origin.Sent())
	}
}

// Bytes that were sent cannot be taken back: the error states that it was not the right file.
func TestStreamOfWrongFile(t *testing.T) {
	t.Parallel()
	origin := sized(t, mib, mirrortest.Digest(other()))
	var out bytes.Buffer
	_, err := newRun(t, origin.URL).stream(&out)
	var e *download.Error
	if !errors.As(err, &e) || e.Kind != download.Mismatch || e.Kept != 0 || len(origin.Requests()) != 1 {
		t.Errorf("%+v", err)
	}
	if out.Len() != mib {
		t.Errorf("%d bytes", out.Len())
	}
}

// A stream without sent bytes can be recovered like a file (rule 30).
func TestStreamFallsBack_Rule30(t *testing.T) {
	t.Parallel()
	origin, mirror := sized(t, mib, mirrortest.Status(http.StatusNotFound)), sized(t, mib)
	r := newRun(t, origin.URL)
	r.mirrors(mirror)
	var out bytes.Buffer
	if _, err := r.stream(&out); err != nil || out.Len() != mib {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
}

// Digests on HEAD only: the first answer is refused before any byte is sent.
func TestStreamAsksHead(t *testing.T) {
	t.Parallel()
	mirror := sized(t, 6*mib, mirrortest.Rate(4*mib))
	origin := sized(t, 6*mib, mirrortest.Rate(4*mib), mirrortest.Mirrors(mirror.URL), mirrortest.OnHead(mirrortest.Digest()))
	var out bytes.Buffer
	res, err := newRun(t, origin.URL).stream(&out)
	if err != nil || !bytes.Equal(out.Bytes(), origin.Content.Bytes()) {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
	verified(t, res, byDigest)
}

// An interrupted stream does not use its writer after Get has returned; the race detector would report it.
func TestStreamInterrupted(t *testing.T) {
	t.Parallel()
	origin := sized(t, 32*mib, mirrortest.Digest())
	for range 5 {
		r := newRun(t, origin.URL)
		ctx, cancel := context.WithCancel(t.Context())
		var out bytes.Buffer
		r.req.Stream = &out
		r.req.Observe = func(ev download.Event) {
			if _, ok := ev.(download.Progress); ok {
				cancel()
			}
		}
		r.client.HTTP = &httpsource.Client{}
		_, err := r.client.Get(ctx, r.req)
		cancel()
		r.client.HTTP.CloseIdle()
		out.Reset()
		var e *download.Error
		if err != nil && (!errors.As(err, &e) || e.Kind != download.Interrupted) {
			t.Errorf("%+v", err)
		}
	}
}

// A stream without a validator cannot start over after bytes were sent (S18).
func TestStreamBreaksOff_S18(t *testing.T) {
	t.Parallel()
	origin := sized(t, 4*mib, mirrortest.Once(mirrortest.CutAfter(2*mib)))
	var out bytes.Buffer
	_, err := newRun(t, origin.URL).stream(&out)
	var e *download.Error
	if !errors.As(err, &e) || e.Kind != download.Network || !bytes.HasPrefix(origin.Content.Bytes(), out.Bytes()) {
		t.Errorf("%d bytes, %+v", out.Len(), err)
	}
}

// A slow writer takes its time: nothing before the gate opens, and not much before the context ends. No write
// may follow its end.
type slow struct {
	t       *testing.T
	ctx     context.Context
	gate    chan struct{}
	written atomic.Int64
	over    atomic.Bool
}

func (w *slow) Write(p []byte) (int, error) {
	if w.over.Load() {
		w.t.Error("it is still written to")
	}
	<-w.gate
	if w.written.Add(int64(len(p))) > 4*mib {
		<-w.ctx.Done()
	}
	return len(p), nil
}

// An interruption does not wait for the bytes that the receiver has yet to take.
func TestStreamInterruptedBeforeBacklog(t *testing.T) {
	t.Parallel()
	const here = 28 * mib
	origin := sized(t, 32*mib, mirrortest.Digest(), mirrortest.StallAfter(here))
	r := newRun(t, origin.URL)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := slow{t: t, ctx: ctx, gate: make(chan struct{})}
	var open sync.Once
	r.req.Stream = &out
	r.req.Observe = func(ev download.Event) {
		p, ok := ev.(download.Progress)
		switch {
		case !ok:
		case out.written.Load() > 2*mib:
			cancel()
		case p.Done > 24*mib:
			open.Do(func() { close(out.gate) })
		}
	}
	r.client.HTTP = &httpsource.Client{}
	defer r.client.HTTP.CloseIdle()
	_, err := r.client.Get(ctx, r.req)
	out.over.Store(true)
	if n := out.written.Load(); err == nil || n >= here {
		t.Errorf("%d bytes were written, %v", n, err)
	}
}
