package cli

import (
	"sync"
	"time"

	"braid/download"
)

// limits keeps what holds downloads to a number of bytes a second to what their rates say by the time of day. The zero
// value has none.
type limits struct {
	mu    sync.Mutex
	timed []timedLimit
	timer *time.Timer // nil: the time of day is not followed
}

// A timedLimit is told its rate.
type timedLimit struct {
	rates rates
	set   func(bytes int64)
}

// mostAsleep bounds how late a change is after the clock was set, or the machine slept.
const mostAsleep = time.Minute

// of returns a limit that goes by rates, or nil if they never limit anything.
func (p *limits) of(v rates) *download.Limiter {
	if !v.Any() {
		return nil
	}
	l := &download.Limiter{}
	if rate, until := v.At(time.Now()); until.IsZero() { // for all day: a long list may have many of these
		l.Set(rate)
	} else {
		p.add(timedLimit{v, l.Set})
	}
	return l
}

func (p *limits) add(l timedLimit) {
	if rate, until := l.rates.At(time.Now()); until.IsZero() {
		l.set(rate)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timed = append(p.timed, l)
	p.turn()
}

// follow changes the limits with the time of day until stop is called.
func (p *limits) follow() (stop func()) {
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

// turn sets the limits to what counts now. The caller holds mu.
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

// allowed is the limit of all downloads: what a client set, else what the time of day says.
type allowed struct {
	mu             sync.Mutex
	set            func(int64)
	timed, clients int64
	overridden     bool
}

func (a *allowed) schedule(n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timed = n
	a.apply()
}

func (a *allowed) byTime() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.timed
}

func (a *allowed) override(n int64, said bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clients, a.overridden = n, said
	a.apply()
}

func (a *allowed) apply() {
	n := a.timed
	if a.overridden {
		n = a.clients
	}
	a.set(n)
}
