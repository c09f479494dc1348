package httpsource

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"braid/byterange"
	"braid/internal/test/mirrortest"
	"braid/internal/test/sourcetest"
	"braid/source"
	"braid/verify"
)

var file = mirrortest.Generate(1<<20+123, 1)

func TestFetchWhole(t *testing.T) {
	modified := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	s := mirrortest.New(t, file, mirrortest.ETag(`"v1"`), mirrortest.Modified(modified), mirrortest.Digest())
	k := mustFetch(t, newClient(t), s.URL, Options{}, whole)
	k.Has(file, part(0, file.Size()))
	a := k.Heard
	if a.Host != s.Addr || a.URL.String() != s.URL || a.Ranged || a.Start != 0 || a.End != file.Size() || a.Size != file.Size() {
		t.Errorf("answer is %+v", a)
	}
	if a.ETag != `"v1"` || !a.LastModified.Equal(modified) || a.RTT <= 0 {
		t.Errorf("ETag %s, modified %v, RTT %v", a.ETag, a.LastModified, a.RTT)
	}
	if len(a.Claims) != 1 || a.Claims[0].Digest != s.Digest() || a.Claims[0].Channel != verify.HTTP {
		t.Errorf("claims are %v", a.Claims)
	}
	if len(a.Hops) != 1 || a.Hops[0].Status != 200 || a.Hops[0].URL.String() != s.URL {
		t.Errorf("hops are %+v", a.Hops)
	}
	if r := s.Requests()[0]; r.Ranged {
		t.Errorf("the whole file was asked for as %q", r.Header.Get("Range"))
	}
}

func TestFetchRange(t *testing.T) {
	s := mirrortest.New(t, file)
	c := newClient(t)
	end := file.Size()
	for _, tt := range []struct{ ask, want byterange.Range }{
		{part(0, 1), part(0, 1)},
		{part(0, end), part(0, end)},
		{part(5, 300_000), part(5, 300_000)},
		{part(end-1, end), part(end-1, end)},
		{part(end-10, end+10), part(end-10, end)},
		{part(7, byterange.Unbounded), part(7, end)},
	} {
		k := mustFetch(t, c, s.URL, Options{}, tt.ask)
		k.Has(file, tt.want)
		if a := k.Heard; !a.Ranged || a.Start != tt.want.Start || a.End != tt.want.End || a.Size != end {
			t.Errorf("%v: answer is %+v", tt.ask, a)
		}
	}
	requests := s.Requests()
	if got := requests[2].Header.Get("Range"); got != "bytes=5-299999" {
		t.Errorf("Range is %q", got)
	}
	reuses(t, s)
	if s.MaxConcurrent() != 1 {
		t.Errorf("%d requests at a time", s.MaxConcurrent())
	}
}

func TestFetchEmptyRangeAsksNobody(t *testing.T) {
	s := mirrortest.New(t, file)
	k := mustFetch(t, newClient(t), s.URL, Options{}, part(5, 5))
	if k.Heard != nil || len(s.Requests()) != 0 {
		t.Errorf("answer %v, requests %v", k.Heard, s.Requests())
	}
}

func TestFetchEmptyFile(t *testing.T) {
	s := mirrortest.New(t, []byte{})
	k := mustFetch(t, newClient(t), s.URL, Options{}, whole)
	if k.Heard.Size != 0 || len(k.Data) != 0 {
		t.Errorf("answer is %+v, %d bytes", k.Heard, len(k.Data))
	}
}

// TestWholeAnswerToRange_S15 checks that the whole file in response to a range request is delivered from 0 (S15 and
// rule 14).
func TestWholeAnswerToRange_S15(t *testing.T) {
	s := mirrortest.New(t, file, mirrortest.IgnoreRange())
	c := newClient(t)
	k := mustFetch(t, c, s.URL, Options{}, part(1000, 2000))
	if a := k.Heard; a.Ranged || a.Start != 0 || a.End != file.Size() || a.Size != file.Size() {
		t.Errorf("answer is %+v", a)
	}
	k.Has(file, part(0, file.Size()))

	no := errors.New("not wanted")
	k = &sourcetest.Sink{T: t, Refuse: no}
	if err := c.Source(sourcetest.URL(t, s.URL), Options{}).Fetch(t.Context(), part(1000, 2000), k); err != no {
		t.Errorf("a refused answer gives %v, want the sink's own error", err)
	}
}

func TestFetchUnknownLength(t *testing.T) {
	for _, framing := range []mirrortest.Option{mirrortest.Chunked(), mirrortest.UntilClose()} {
		s := mirrortest.New(t, file, framing)
		c := newClient(t)
		k := mustFetch(t, c, s.URL, Options{}, whole)
		if k.Heard.End != -1 || k.Heard.Size != -1 {
			t.Errorf("answer is %+v", k.Heard)
		}
		k.Has(file, part(0, file.Size()))
		k = mustFetch(t, c, s.URL, Options{}, part(10, 5000))
		k.Has(file, part(10, 5000))
	}
}

// TestEveryRequestAsksForDigests_C3 checks that each request asks for digests and for the bytes without a content
// coding (C3 and rule 18).
func TestEveryRequestAsksForDigests_C3(t *testing.T) {
	last := mirrortest.New(t, file)
	first := mirrortest.New(t, file, mirrortest.Redirect(last.URL))
	c := newClient(t)
	c.UserAgent = "test/1"
	mustFetch(t, c, first.URL, Options{}, part(0, 10))
	if _, err := c.Head(t.Context(), sourcetest.URL(t, first.URL), Options{}); err != nil {
		t.Fatal(err)
	}
	mustFetch(t, c, first.URL, Options{Mirror: true}, whole)
	for _, r := range slices.Concat(first.Requests(), last.Requests()) {
		for name, want := range map[string]string{
			"Want-Digest":      "SHA-256;q=1, SHA-512;q=0.8",
			"Want-Repr-Digest": "sha-256=10, sha-512=8",
			"Accept-Encoding":  "identity",
			"User-Agent":       "test/1",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s %s: %s is %q, want %q", r.Method, r.Path, name, got, want)
			}
		}
	}
}

// TestMalformedDigest_Rule31 checks that a malformed digest is an error and is not treated like a missing one (rule
// 31).
func TestMalformedDigest_Rule31(t *testing.T) {
	s := mirrortest.New(t, file, mirrortest.Header("Digest", "SHA-256=AAAA"))
	k, err := fetch(t, newClient(t), s.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultProtocol, false)
	if _, ok := errors.AsType[*verify.DigestError](err); !ok {
		t.Errorf("error %v does not wrap a DigestError", err)
	}
	if k.Heard == nil || len(k.Heard.Claims) != 0 || len(k.Data) != 0 {
		t.Errorf("answer %+v, %d bytes; want to see the answer without claims and no byte", k.Heard, len(k.Data))
	}
	if _, err := newClient(t).Head(t.Context(), sourcetest.URL(t, s.URL), Options{}); err == nil {
		t.Error("Head does not mind")
	}
}

func TestHead(t *testing.T) {
	s := mirrortest.New(t, file, mirrortest.OnHead(mirrortest.Digest()), mirrortest.ETag(`"e"`))
	c := newClient(t)
	a, err := c.Head(t.Context(), sourcetest.URL(t, s.URL), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if a.Size != file.Size() || len(a.Claims) != 1 || a.ETag != `"e"` || a.Host != s.Addr {
		t.Errorf("answer is %+v", a)
	}
	s.Set(mirrortest.ContentLength())
	if a, err = c.Head(t.Context(), sourcetest.URL(t, s.URL), Options{}); err != nil || a.Size != -1 {
		t.Errorf("without a length: size %d, error %v", a.Size, err)
	}
	s.Set(mirrortest.Status(http.StatusNotFound))
	_, err = c.Head(t.Context(), sourcetest.URL(t, s.URL), Options{})
	sourcetest.Fault(t, err, source.FaultRefused, false)
}

func TestNotModified(t *testing.T) {
	s := mirrortest.New(t, file, mirrortest.ETag(`"v1"`))
	c := newClient(t)
	k := mustFetch(t, c, s.URL, Options{IfNoneMatch: `"v1"`}, whole)
	if !k.Heard.NotModified || len(k.Data) != 0 {
		t.Errorf("answer is %+v", k.Heard)
	}
	k = mustFetch(t, c, s.URL, Options{IfNoneMatch: `"v0"`}, whole)
	if k.Heard.NotModified || len(k.Data) != int(file.Size()) {
		t.Errorf("answer is %+v", k.Heard)
	}
	modified := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	s.Set(mirrortest.ETag(""), mirrortest.Modified(modified))
	if k = mustFetch(t, c, s.URL, Options{IfModifiedSince: modified}, whole); !k.Heard.NotModified {
		t.Errorf("answer is %+v", k.Heard)
	}
}

// TestEnough checks that a sink can end a response, and that the rest is read only if it is short, to use the
// connection again.
func TestEnough(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(64<<20, 2))
	c := newClient(t)
	src := c.Source(sourcetest.URL(t, s.URL), Options{})
	for i := range 3 {
		k := &sourcetest.Sink{T: t, Limit: 100}
		if err := src.Fetch(t.Context(), whole, k); err != nil {
			t.Fatal(err)
		}
		if len(k.Data) != 100 || s.Connections() != i+1 {
			t.Errorf("%d bytes, connection %d", len(k.Data), s.Connections())
		}
	}
	if s.MaxConcurrent() != 1 {
		t.Errorf("%d requests at a time (C7): a connection was not closed before the next", s.MaxConcurrent())
	}
	for range 5 {
		k := &sourcetest.Sink{T: t, Limit: 100}
		if err := src.Fetch(t.Context(), part(0, 10_000), k); err != nil {
			t.Fatal(err)
		}
	}
	reuses(t, s) // a response with a few bytes left
}

func TestSinkErrorIsReturnedAsItIs(t *testing.T) {
	s := mirrortest.New(t, file)
	full := errors.New("disk full")
	k := &sourcetest.Sink{T: t, Writing: func(int64, int) error { return full }}
	if err := newClient(t).Source(sourcetest.URL(t, s.URL), Options{}).Fetch(t.Context(), whole, k); err != full {
		t.Errorf("error is %v, want the sink's", err)
	}
}

func TestCancel(t *testing.T) {
	s := mirrortest.New(t, file, mirrortest.StallAfter(1000))
	c := newClient(t)
	src := c.Source(sourcetest.URL(t, s.URL), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	k := &sourcetest.Sink{T: t, Writing: func(off int64, n int) error {
		if off+int64(n) == 1000 {
			cancel()
		}
		return nil
	}}
	if err := src.Fetch(ctx, whole, k); err != context.Canceled {
		t.Errorf("error is %v", err)
	}
	if len(k.Data) != 1000 {
		t.Errorf("%d bytes came before the stall, want 1000 (bytes must not be held back)", len(k.Data))
	}
	if err := src.Fetch(canceled(), whole, &sourcetest.Sink{T: t}); err != context.Canceled {
		t.Errorf("error is %v", err)
	}
	s.Set(mirrortest.StallAfter(-1))
	mustFetch(t, c, s.URL, Options{}, part(0, 10))
	if s.MaxConcurrent() != 1 {
		t.Errorf("%d requests at a time: a canceled one was not closed (rule 38)", s.MaxConcurrent())
	}
}

// TestCancelBeforeAnswer_Rule38 checks that Fetch returns at once when it is cancelled before the response, and that
// its connection is closed before the next request (rule 38).
func TestCancelBeforeAnswer_Rule38(t *testing.T) {
	s := mirrortest.New(t, file, mirrortest.Latency(time.Hour))
	src := newClient(t).Source(sourcetest.URL(t, s.URL), Options{})
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		if err := src.Fetch(ctx, whole, &sourcetest.Sink{T: t}); err != context.DeadlineExceeded {
			t.Errorf("error is %v", err)
		}
		cancel()
	}
	if s.MaxConcurrent() > 1 {
		t.Errorf("%d requests at a time", s.MaxConcurrent())
	}
}

func TestHeaderTimeout_Rule21(t *testing.T) {
	s := mirrortest.New(t, file, mirrortest.Latency(time.Hour))
	c := newClient(t)
	c.HeaderTimeout = 20 * time.Millisecond
	_, err := fetch(t, c, s.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultNetwork, true)
}
