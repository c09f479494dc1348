// Package limit limits how many bytes a second downloads take, together and from each host.
//
// A receiver waits for a turn before it takes more bytes, so that TCP slows the sender down. Several downloads share a
// limit if they use the same value. A limit may change while downloads run.
package limit

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// A Limiter limits all downloads that share it together to a number of bytes a second, which Set may change.
// It is safe for use by several goroutines. New makes one. A nil *Limiter and the zero Limiter do not limit.
type Limiter struct {
	now     atomic.Pointer[turns] // nil: no limit
	waiting atomic.Int64
	passed  atomic.Int64
	within  *Limiter // the outer limit; nil: none
}

// turns gives out the turns of one rate. If the rate changes, a waiting fetch still waits for its turn at the old rate,
// for at most about roundTime.
type turns struct {
	*rate.Limiter
	bytes int64 // a second
}

// New returns a limit of n bytes a second; an n below 1 counts as 1. A sleep takes up to a millisecond too long; the
// bytes that could have passed meanwhile may pass within the next 50 ms.
func New(n int64) *Limiter {
	l := &Limiter{}
	l.Set(max(n, 1))
	return l
}

// Set changes the limit to n bytes a second, also for running downloads. Zero is no limit.
func (l *Limiter) Set(n int64) {
	switch now := l.now.Load(); {
	case n <= 0:
		l.now.Store(nil)
	case now == nil || now.bytes != n:
		fresh := &turns{rate.NewLimiter(rate.Limit(n), int(min(max(n/20, 1), 1<<30))), n}
		if now != nil { // a used burst is not allowed again
			at := time.Now()
			fresh.ReserveN(at, max(0, min(fresh.Burst(), fresh.Burst()-int(now.TokensAt(at)))))
		}
		l.now.Store(fresh)
	}
}

// Passed returns the number of bytes that have passed while there was a limit, or have a turn.
func (l *Limiter) Passed() int64 { return l.passed.Load() }

// Rate returns the current limit in bytes a second: the lowest rate of l and its outer limits. Zero means no limit.
func (l *Limiter) Rate() (perSecond int64) {
	for ; l != nil; l = l.within {
		if now := l.now.Load(); now != nil && (perSecond == 0 || now.bytes < perSecond) {
			perSecond = now.bytes
		}
	}
	return perSecond
}

// Within makes l a part of outer: bytes that pass l must also pass outer. It returns l, which must not be in use yet.
func (l *Limiter) Within(outer *Limiter) *Limiter {
	l.within = outer
	return l
}

// roundTime is the time in which each waiting fetch gets a turn, whatever their number, so that no source seems silent.
const roundTime = 250 * time.Millisecond

// Wait waits for a turn, and returns how many of most bytes may pass in it.
func (l *Limiter) Wait(ctx context.Context, most int) (n int, err error) {
	turns := l.now.Load()
	if turns == nil {
		return l.outer(ctx, most)
	}
	waiting := l.waiting.Add(1)
	defer l.waiting.Add(-1)
	fair := max(turns.bytes/(waiting*int64(time.Second/roundTime)), 1)
	n = int(min(int64(most), int64(turns.Burst()), fair))
	if n, err = l.outer(ctx, n); err != nil { // first, because outer may let fewer bytes pass
		return n, err
	}
	l.passed.Add(int64(n))
	if err = turns.WaitN(ctx, n); err != nil { // WaitN fails at once if the turn would come after the deadline of ctx
		<-ctx.Done()
		err = ctx.Err()
	}
	return n, err
}

// outer waits for a turn of the outer limit.
func (l *Limiter) outer(ctx context.Context, most int) (int, error) {
	if l.within == nil {
		return most, ctx.Err()
	}
	return l.within.Wait(ctx, most)
}

// Pay waits until the limit would have let n bytes pass. It is for bytes that were already received.
func (l *Limiter) Pay(ctx context.Context, n int) error {
	for n > 0 {
		k, err := l.Wait(ctx, n)
		if err != nil {
			return err
		}
		n -= k
	}
	return nil
}
