package mirrortest

import (
	"context"
	"sync"
	"time"
)

const (
	// maxPiece is the maximum number of bytes that are sent between two checks for changed options.
	maxPiece = 64 << 10
	// beat is the duration of one piece of a paced answer, and so the granularity of the rate.
	beat = 5 * time.Millisecond
	// lag is how far a pace may be behind its schedule and catch up. Older debts are dropped instead of being sent in a
	// burst.
	lag = 20 * time.Millisecond
)

// pace is a link with a limited rate. All answers that use it share the rate.
type pace struct {
	rate func(elapsed time.Duration) int64 // bytes a second

	mu    sync.Mutex
	begun time.Time // time of the first piece
	next  time.Time // when the link is free
}

// piece returns the number of bytes that may be sent at once, or 0 if none may be sent now.
func (p *pace) piece() int64 {
	rate := p.current()
	if rate <= 0 {
		return 0
	}
	return min(max(rate*int64(beat)/int64(time.Second), 1), maxPiece)
}

func (p *pace) current() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.begun.IsZero() {
		p.begun = time.Now()
	}
	return p.rate(time.Since(p.begun))
}

// wait blocks for the time that n bytes take on the link, or until ctx ends.
func (p *pace) wait(ctx context.Context, n int64) {
	rate := p.current()
	if rate <= 0 {
		return
	}
	p.mu.Lock()
	now := time.Now()
	if p.next.Before(now.Add(-lag)) {
		p.next = now
	}
	p.next = p.next.Add(time.Duration(n * int64(time.Second) / rate))
	until := p.next
	p.mu.Unlock()
	sleep(ctx, time.Until(until))
}

// sleep blocks until d has passed or ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
