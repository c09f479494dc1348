package download

import (
	"context"

	"golang.org/x/time/rate"

	"braid/source"
)

// NewLimit makes a limit of n bytes a second for [Client].Limit.
func NewLimit(n int64) *rate.Limiter { return rate.NewLimiter(rate.Limit(n), limitChunk(n)) }

// limitChunk is how many bytes are let through at once: about 50 ms worth, so that a source that waits for its turn
// does not look silent, and little enough that several sources take turns.
func limitChunk(n int64) int { return int(min(max(n/20, 1<<10), 64<<10)) }

// A throttle is a sink that takes bytes only as fast as the limit allows; the source is held back by TCP.
type throttle struct {
	*sink
	ctx   context.Context
	limit *rate.Limiter
}

// WriteAt lets p through in small parts.
func (t *throttle) WriteAt(p []byte, off int64) (n int, err error) {
	for len(p) > 0 {
		part := p[:min(len(p), t.limit.Burst())]
		if t.sink.limit.Load() <= off {
			return n, source.ErrEnough
		}
		if err := t.limit.WaitN(t.ctx, len(part)); err != nil {
			return n, err
		}
		k, err := t.sink.WriteAt(part, off)
		n, off = n+k, off+int64(k)
		if err != nil {
			return n, err
		}
		p = p[k:]
	}
	return n, nil
}

// throttled is where the bytes of a fetch go.
func (s *session) throttled(ctx context.Context, k *sink) source.Sink {
	if s.c.Limit == nil {
		return k
	}
	return &throttle{k, ctx, s.c.Limit}
}
