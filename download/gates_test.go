package download_test

import (
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/ftptest"
	"braid/internal/test/mirrortest"
	"braid/source/httpsource"
)

// If a test needs a server to have done something, the others are held to a low rate until then. Alone they
// would send the whole file first, because any goroutine may start seconds late on a busy machine.

// held returns a rate that is low until a condition holds.
func held(rate int64, until func() bool) mirrortest.Option {
	return mirrortest.RateFunc(func(time.Duration) int64 {
		if until() {
			return rate
		}
		return rate / 16
	})
}

// part is how many bytes a server must send, unless stated otherwise, before it counts as used.
const part = 3 * mib / 4

// waiting returns the rate of a server that is held until each of the others has sent a part.
func waiting(rate int64, others ...*mirrortest.Server) mirrortest.Option {
	return held(rate, sent(part, others...))
}

// together gives servers a rate at which each of them sends a part, and no more until all have.
func together(rate int64, servers ...*mirrortest.Server) {
	for _, s := range servers {
		s.Set(held(rate, func() bool { return s.Sent() < part || sent(part, servers...)() }))
	}
}

// sent reports whether each of the servers has sent n bytes.
func sent(n int64, servers ...*mirrortest.Server) func() bool {
	return func() bool {
		for _, s := range servers {
			if s.Sent() < n {
				return false
			}
		}
		return true
	}
}

// requested reports whether each of the servers was asked for something.
func requested(servers ...*mirrortest.Server) func() bool {
	return func() bool {
		for _, s := range servers {
			if len(s.Requests()) == 0 {
				return false
			}
		}
		return true
	}
}

// allOf reports whether all conditions hold.
func allOf(conditions ...func() bool) func() bool {
	return func() bool {
		for _, holds := range conditions {
			if !holds() {
				return false
			}
		}
		return true
	}
}

// ftpHeld is like held for FTP.
func ftpHeld(rate int64, until func() bool) ftptest.Option {
	return ftptest.While(func() bool { return !until() }, ftptest.Rate(rate/16))
}

// ftpSent is like sent for FTP.
func ftpSent(n int64, servers ...*ftptest.Server) func() bool {
	return func() bool {
		for _, s := range servers {
			if s.Sent() < n {
				return false
			}
		}
		return true
	}
}

// seen reports whether an event that matches was observed.
func seen[E download.Event](r *run, match func(E) bool) func() bool {
	var found atomic.Bool
	observe := r.req.Observe
	r.req.Observe = func(ev download.Event) {
		observe(ev)
		if e, ok := ev.(E); ok && match(e) {
			found.Store(true)
		}
	}
	return found.Load
}

// givenUp reports whether SourceDown was sent for each of the servers.
func givenUp(r *run, urls ...string) func() bool {
	var conditions []func() bool
	for _, u := range urls {
		conditions = append(conditions, seen(r, func(down download.SourceDown) bool { return down.URL == u }))
	}
	return allOf(conditions...)
}

func urlsOf(servers ...*mirrortest.Server) (urls []string) {
	for _, s := range servers {
		urls = append(urls, s.URL)
	}
	return urls
}

// dammed returns a client whose answers have n bytes of bodies in total, and none after that before their
// requests end. A download to be interrupted is then not over before the test sees its progress.
func dammed(t *testing.T, n int64) *httpsource.Client {
	t.Helper()
	var left atomic.Int64
	left.Store(n)
	c := &httpsource.Client{Wrap: func(own http.RoundTripper) http.RoundTripper { return dam{own, &left} }}
	t.Cleanup(c.CloseIdle)
	return c
}

type dam struct {
	own  http.RoundTripper
	left *atomic.Int64
}

func (d dam) RoundTrip(q *http.Request) (*http.Response, error) {
	resp, err := d.own.RoundTrip(q)
	if err == nil {
		resp.Body = &pooled{resp.Body, q, d.left}
	}
	return resp, err
}

type pooled struct {
	io.ReadCloser
	q    *http.Request
	left *atomic.Int64
}

func (p *pooled) Read(b []byte) (int, error) {
	if p.left.Load() <= 0 {
		<-p.q.Context().Done()
		return 0, p.q.Context().Err()
	}
	n, err := p.ReadCloser.Read(b[:min(len(b), 64<<10)])
	p.left.Add(-int64(n))
	return n, err
}
