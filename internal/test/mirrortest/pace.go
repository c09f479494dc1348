package mirrortest

import (
	"context"
	"sync"
	"time"
)

const (
	// maxPiece is the most that is sent between two looks at what the test wants.
	maxPiece = 64 << 10
	// beat is how much time a piece of a paced answer stands for: the stream is even down to this.
	beat = 5 * time.Millisecond
	// lag is how far behind its schedule a pace may be and catch up. What is older is lost, not sent in a burst.
	lag = 20 * time.Millisecond
)

// A pace is a link of limited rate. All answers that use it share it.
type pace struct {
	rate func(elapsed time.Duration) int64 // bytes a second

	mu    sync.Mutex
	begun time.Time // of the first piece
	next  time.Time // when the link is free
}

// piece says how many bytes may be sent at once, and 0 if none may now.
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

// wait lets n bytes have their time on the link. It returns early when ctx ends.
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

// sleep waits for d to pass or ctx to end.
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
