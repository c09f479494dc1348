package worlds

import (
	"context"
	"io"
	"time"
)

func (a *answer) body(start, end int64) io.ReadCloser {
	ctx, cancel := context.WithCancel(a.req.Context())
	here := min(end, int64(len(a.data)))
	b := &body{answer: a, ctx: ctx, cancel: cancel, end: io.EOF, rate: a.f.Rate}
	b.left = a.data[min(start, here):here]
	if here < end {
		b.end = io.ErrUnexpectedEOF
	}
	if b.rate == 0 {
		b.rate = 4 << 20
	}
	return b
}

// A body takes the time that its server's rate takes.
type body struct {
	*answer
	ctx    context.Context
	cancel func()
	left   []byte
	sent   int
	rate   int
	end    error
}

func (b *body) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if b.f.Stall > 0 && b.sent >= b.f.Stall {
		<-b.ctx.Done()
		return 0, b.ctx.Err()
	}
	if b.f.Cut > 0 && b.sent >= b.f.Cut {
		return 0, io.ErrUnexpectedEOF
	}
	if len(b.left) == 0 {
		return 0, b.end
	}
	n := min(len(p), len(b.left), chunk, max(512, b.rate/10))
	for _, limit := range []int{b.f.Stall, b.f.Cut} {
		if limit > b.sent {
			n = min(n, limit-b.sent)
		}
	}
	if err := sleep(b.ctx, time.Duration(n)*time.Second/time.Duration(b.rate)); err != nil {
		return 0, err
	}
	copy(p, b.left[:n])
	b.left, b.sent = b.left[n:], b.sent+n
	b.mu.Lock()
	b.log.Sent += int64(n)
	b.mu.Unlock()
	b.tick("bytes", n)
	return n, nil
}

func (b *body) Close() error {
	b.cancel()
	return nil
}
