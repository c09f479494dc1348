package download

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"braid/source"
)

// A Limiter limits all downloads that share it to a number of bytes a second together. It may be used by several goroutines. NewLimit makes
// one; a nil *Limiter and the zero Limiter are no limit.
type Limiter struct {
	bytes   atomic.Int64 // a second; 0: no limit
	turns   *rate.Limiter
	waiting atomic.Int64
	within  *Limiter // nil: nothing else
}

// NewLimit makes a limit of n bytes a second for [Client].Limit or [Request].Limit; less than one is one. What is let through late, as sleeping takes a
// millisecond longer than it should, is made up for within 50 ms.
func NewLimit(n int64) *Limiter {
	n = max(n, 1)
	l := &Limiter{turns: rate.NewLimiter(rate.Limit(n), burst(n))}
	l.bytes.Store(n)
	return l
}

func burst(n int64) int { return int(min(max(n/20, 1), 1<<30)) }

// Set makes a limit of NewLimit one of n bytes a second, also while downloads go on; 0 is no limit.
func (l *Limiter) Set(n int64) {
	if n <= 0 {
		l.bytes.Store(0)
		l.turns.SetLimit(rate.Inf) // for those that have a turn to wait for
		return
	}
	l.turns.SetLimit(rate.Limit(n))
	l.turns.SetBurst(burst(n))
	l.bytes.Store(n)
}

// limits reports whether l, or what it is within, is a limit now.
func (l *Limiter) limits() bool { return l != nil && (l.bytes.Load() > 0 || l.within.limits()) }

// Within makes l a part of outer: what passes through l passes through outer, too. It returns l, which must not be in use yet.
func (l *Limiter) Within(outer *Limiter) *Limiter {
	l.within = outer
	return l
}

// roundTime is how soon each waiting fetch gets a turn, however many there are. So none of their sources looks silent.
const roundTime = 250 * time.Millisecond

// wait waits for a turn, and returns how many of most bytes may pass in it.
func (l *Limiter) wait(ctx context.Context, most int) (n int, err error) {
	bytes := l.bytes.Load()
	if bytes == 0 {
		return l.outer(ctx, most)
	}
	waiting := l.waiting.Add(1)
	defer l.waiting.Add(-1)
	fair := max(bytes/(waiting*int64(time.Second/roundTime)), 1)
	n = int(min(int64(most), int64(l.turns.Burst()), fair))
	if n, err = l.outer(ctx, n); err != nil { // first, as it may let less pass
		return n, err
	}
	err = l.turns.WaitN(ctx, n)
	for err != nil && ctx.Err() == nil && n > l.turns.Burst() { // it was set to less meanwhile
		n = max(l.turns.Burst(), 1)
		err = l.turns.WaitN(ctx, n)
	}
	if err != nil { // it fails at once if the turn would come after the deadline
		<-ctx.Done()
		err = ctx.Err()
	}
	return n, err
}

// outer waits for a turn of the limit that l is a part of.
func (l *Limiter) outer(ctx context.Context, most int) (int, error) {
	if l.within == nil {
		return most, ctx.Err()
	}
	return l.within.wait(ctx, most)
}

// pay waits until the limit would have let n bytes pass, which are here already.
func (l *Limiter) pay(ctx context.Context, n int) error {
	for n > 0 {
		k, err := l.wait(ctx, n)
		if err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// A throttle is a sink that takes bytes only as fast as the limit allows. TCP slows the source down.
type throttle struct {
	*sink
	ctx   context.Context
	limit *Limiter
}

// WriteAt writes p in small parts.
func (t *throttle) WriteAt(p []byte, off int64) (n int, err error) {
	for len(p) > 0 {
		if t.sink.limit.Load() <= off {
			return n, source.ErrEnough
		}
		part, err := t.limit.wait(t.ctx, len(p))
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
