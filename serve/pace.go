package serve

import (
	"context"
	"sync"
	"time"
)

// pacer limits the rate of the bodies of all responses together. Each chunk gets a time on a common schedule, so that
// responses take turns without counting the bytes of the last second.
type pacer struct {
	rate int64 // bytes per second

	mu     sync.Mutex
	next   time.Time // when the next chunk may be sent
	active int       // number of responses that are being sent
}

const (
	// paceStep is the time in which each response sends one chunk.
	paceStep = 10 * time.Millisecond
	// paceSlack is how far a response that is late may catch up. Timers are always slightly late.
	paceSlack = 20 * time.Millisecond
)

// join counts a response as active until the returned function is called.
func (p *pacer) join() (leave func()) {
	p.add(1)
	return func() { p.add(-1) }
}

func (p *pacer) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active += n
}

// chunk returns how many bytes a response may send at once. The number decreases with the number of responses, so that
// each response progresses smoothly.
func (p *pacer) chunk() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	turn := p.rate / int64(time.Second/paceStep)
	return int(min(max(1, turn/int64(max(1, p.active))), bufferSize))
}

// wait blocks until n bytes may be sent or ctx is done.
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

// reserve reserves the next free time for n bytes, and returns how long to wait for that time.
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
