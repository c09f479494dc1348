package download

import (
	"context"

	"braid/download/limit"
	"braid/source"
)

// limitOf returns the limit of the download r, or nil if there is none.
func (c *Client) limitOf(r *Request) *limit.Limiter {
	if r.Limits.Rate != nil {
		return r.Limits.Rate
	}
	return c.Limit
}

// throttled returns k as a sink that obeys the limits of this download and of the host that answers. The caller must
// call end when the fetch is over.
func (c *Client) throttled(ctx context.Context, r *Request, o *origin, k *sink) (to source.Sink, end func()) {
	all, hosts := c.limitOf(r), c.HostLimits
	if o.swarm {
		hosts = nil
		if r.Limits.Rate == nil { // the connections of a swarm obey the client's limit
			all = nil
		}
	}
	if all == nil && hosts == nil {
		return k, func() {}
	}
	t := &throttle{sink: k, ctx: ctx, gate: limit.Gate{All: all, Hosts: hosts}}
	return t, t.gate.Close
}

// A throttle is a sink that takes bytes only as fast as limits allow.
type throttle struct {
	*sink
	ctx  context.Context
	gate limit.Gate
}

// Answer finds the limit of the host that gave the answer a.
func (t *throttle) Answer(a source.Answer) error {
	err := t.sink.Answer(a)
	if err == nil {
		t.gate.Answered(a.URL)
	}
	return err
}

// WriteAt writes p in small parts.
func (t *throttle) WriteAt(p []byte, off int64) (n int, err error) {
	for len(p) > 0 {
		if t.sink.limit.Load() <= off {
			return n, source.ErrEnough
		}
		part, err := t.gate.Wait(t.ctx, len(p))
		if err != nil {
			return n, err
		}
		k, err := t.sink.WriteAt(p[:part], off)
		n, off = n+k, off+int64(k)
		if err != nil {
			return n, err
		}
		p = p[k:]
	}
	return n, nil
}
