package download_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"braid/download"
	"braid/download/limit"
	"braid/internal/test/mirrortest"
	"braid/scheduler"
)

// A number that is out of range is an error of each method that uses it, before any request.
func TestNumbersMakeSense(t *testing.T) {
	s := sized(t, mib, mirrortest.Digest())
	for name, set := range map[string]func(*download.Client, *download.Request){
		"PerHost":    func(c *download.Client, _ *download.Request) { c.PerHost = -1 },
		"Split":      func(c *download.Client, _ *download.Request) { c.Split = -1 },
		"Tries":      func(c *download.Client, _ *download.Request) { c.Tries = -1 },
		"MinSplit":   func(c *download.Client, _ *download.Request) { c.MinSplit = -1 },
		"RetryWait":  func(c *download.Client, _ *download.Request) { c.RetryWait = -1 },
		"Timeout":    func(c *download.Client, _ *download.Request) { c.Timeout = -1 },
		"MaxSize":    func(c *download.Client, _ *download.Request) { c.MaxSize = -1 },
		"Allocation": func(c *download.Client, _ *download.Request) { c.Allocation = download.AllocateMust + 1 },
		"Growth":     func(c *download.Client, _ *download.Request) { c.Growth = scheduler.GrowSingle + 1 },
		"Require":    func(_ *download.Client, r *download.Request) { r.Trust.Require = download.RequireSignature + 1 },
		"Peers":      func(_ *download.Client, r *download.Request) { r.Peers = download.PeersMissing + 1 },
		"SeedRatio":  func(_ *download.Client, r *download.Request) { r.Seed.Ratio = math.NaN() },
		"SeedTime":   func(_ *download.Client, r *download.Request) { r.Seed.Time = -1 },
	} {
		r := newRun(t, s.URL)
		set(&r.client, &r.req)
		ctx, c := t.Context(), &r.client
		_, got := c.Get(ctx, r.req)
		_, probed := c.Probe(ctx, r.req)
		_, planned := c.Plan(ctx, r.req)
		_, verified := c.Verify(ctx, r.req)
		_, read := c.Document(ctx, r.req)
		_, listed := c.List(ctx, r.req)
		_, found := c.Magnet(ctx, r.req, "magnet:?xt=urn:btih:0123456789012345678901234567890123456789&xs="+s.URL)
		for method, err := range map[string]error{
			"Get": got, "Probe": probed, "Plan": planned, "Verify": verified, "Document": read, "List": listed, "Magnet": found,
		} {
			var e *download.Error
			if !errors.As(err, &e) || e.Kind != download.Usage {
				t.Errorf("%s in %s: %v", name, method, err)
			}
		}
	}
	if n := len(s.Requests()); n > 0 {
		t.Errorf("%d requests were made", n)
	}
}

// A deadline that a limit leaves too little time for is still the error.
func TestLimitEndsAtDeadline(t *testing.T) {
	r := newRun(t, sized(t, mib, mirrortest.Digest()).URL)
	r.client.Limit = limit.New(100_000)
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	r.ctx = ctx
	if e := r.wrong(download.Interrupted); !errors.Is(e, context.DeadlineExceeded) {
		t.Errorf("%v", e)
	}
}

// The zero Limiter has no limit of its own, and obeys its outer limit.
func TestLimitZero(t *testing.T) {
	s := sized(t, mib, mirrortest.Digest())
	for _, each := range []*limit.Limiter{{}, new(limit.Limiter).Within(limit.New(100 * mib))} {
		r := newRun(t, s.URL)
		r.client.Limit = each
		r.right(s.Content)
	}
}
