package serve

import (
	"context"
	"sync"
	"time"
)

// A pacer keeps the bodies of all responses together at one rate. Each chunk gets its time on one common
// line, so that responses take turns without a count of the bytes of the last second.
type pacer struct {
	rate int64 // bytes per second

	mu     sync.Mutex
	next   time.Time // when the next chunk may leave
	active int       // responses that are being sent
}

const (
	// paceStep is the time that the chunks of all responses take in one turn.
	paceStep = 10 * time.Millisecond
	// paceSlack is how much of a late chunk's time is made up for; timers are always a little late.
	paceSlack = 20 * time.Millisecond
)

// join counts one more response until the function that it returns is called.
func (p *pacer) join() (leave func()) {
	p.add(1)
	return func() { p.add(-1) }
}

func (p *pacer) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active += n
}

// chunk is how many bytes a response may send at once. The more responses there are, the smaller, so that
// each goes on smoothly.
func (p *pacer) chunk() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	turn := p.rate / int64(time.Second/paceStep)
	return int(min(max(1, turn/int64(max(1, p.active))), bufferSize))
}

// wait returns when n bytes may leave, or with the error of ctx.
func (p *pacer) wait(ctx context.Context, n int) error {
	timer := time.NewTimer(p.reserve(time.Now(), n))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reserve takes the next n bytes of the line and says how long from now their turn is.
func (p *pacer) reserve(now time.Time, n int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if oldest := now.Add(-paceSlack); p.next.Before(oldest) {
		p.next = oldest
	}
	turn := p.next.Sub(now)
	p.next = p.next.Add(time.Duration(float64(n) / float64(p.rate) * float64(time.Second)))
	return turn
}
