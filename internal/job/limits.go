package job

import (
	"sync"
	"time"

	"braid/download/limit"
	"braid/internal/option"
)

// limits changes rate limits with the time of day. The zero value has none to change.
type limits struct {
	mu    sync.Mutex
	timed []timedLimit
	timer *time.Timer // nil while Follow is not in effect
}

// A timedLimit is a rate limit that changes as rates say. set changes it.
type timedLimit struct {
	rates option.RatesValue
	set   func(bytes int64)
}

// mostAsleep limits how late a rate changes after the clock was set or the machine slept.
const mostAsleep = time.Minute

// Of returns a limiter with a rate that follows v, or nil if v never limits anything.
func (p *limits) Of(v option.RatesValue) *limit.Limiter {
	if !v.Any() {
		return nil
	}
	l := &limit.Limiter{}
	if rate, until := v.At(time.Now()); until.IsZero() { // not added to p.timed, because a long list may have many
		l.Set(rate)
	} else {
		p.Add(v, l.Set)
	}
	return l
}

// Add calls set with the rate that v has now, and again whenever it changes with the time of day.
func (p *limits) Add(v option.RatesValue, set func(bytes int64)) {
	rate, until := v.At(time.Now())
	if until.IsZero() {
		set(rate)
		return
	}
	l := timedLimit{v, set}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timed = append(p.timed, l)
	p.turn()
}

// Follow changes the limits with the time of day until stop is called.
func (p *limits) Follow() (stop func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(mostAsleep, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.turn()
	})
	p.turn()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.timer.Stop()
		p.timer = nil
	}
}

// turn sets all limits to their current rates. p.mu must be held.
func (p *limits) turn() {
	now, next := time.Now(), time.Time{}
	for _, l := range p.timed {
		rate, until := l.rates.At(now)
		l.set(rate)
		if next.IsZero() || !until.IsZero() && until.Before(next) {
			next = until
		}
	}
	switch {
	case p.timer == nil:
	case next.IsZero():
		p.timer.Stop()
	default:
		p.timer.Reset(min(next.Sub(now), mostAsleep))
	}
}
