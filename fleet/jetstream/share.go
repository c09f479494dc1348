package jetstream

import (
	"context"
	"time"

	"braid/fleet"
)

// A Limited is the limit of this process's bytes per second. Set changes it; Passed returns the number of bytes
// received so far. Neither method may block.
type Limited interface {
	Set(bytes int64)
	Passed() int64
}

// leastShare is the limit for a process without a share, because 0 would mean no limit.
const leastShare = 1 << 10

// A sharer renews this process's share of a host's bytes per second.
type sharer struct {
	users     int
	perSecond int64
	to        Limited
}

// Share calls to.Set with this process's share of perSecond, until end is called. perSecond is the number of bytes per
// second that host may send to the whole fleet. Each download from host calls Share.
func (p *Pacer) Share(host string, perSecond int64, to Limited) (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.sharing[host]
	if s == nil {
		s = &sharer{}
		p.sharing[host] = s
		to.Set(leastShare)
		p.q.running.Go(func() { p.share(host, s) })
	}
	s.users++
	s.perSecond, s.to = perSecond, to
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		s.users--
	}
}

// share renews the share for s periodically. It gives the share back when no download needs it.
func (p *Pacer) share(host string, s *sharer) {
	var rate, passed int64
	asked := time.Now()
	for {
		p.mu.Lock()
		perSecond, users, to := s.perSecond, s.users, s.to
		p.mu.Unlock()
		want, now := perSecond, to.Passed()
		if used := int64(float64(now-passed) / max(time.Since(asked).Seconds(), 1e-3)); passed > 0 && used < rate/2 {
			want = max(2*used, leastShare)
		}
		passed, asked = now, time.Now()
		again, err := p.ask(host, users, &rate, want, perSecond)
		if err == nil {
			to.Set(max(rate, leastShare))
		}
		over := rest(p.q.open, again) != nil
		if !over && p.users(s) > 0 {
			continue
		}
		to.Set(leastShare)
		p.leave(host)
		if over || p.forget(host, s) {
			return
		}
	}
}

// leave gives the share of host back. If that fails, the share expires.
func (p *Pacer) leave(host string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(p.q.open), oneTurn)
	defer stop()
	p.change(ctx, host, func(f *fleet.Pace) error {
		if !f.LeaveShare(p.q.name, p.q.clock.now()) {
			return errSame
		}
		return nil
	})
}

// ask requests a share of host from the queue, and stores it in rate. Without an answer, the previous share stays.
// again is the time until the next request.
func (p *Pacer) ask(host string, users int, rate *int64, want, perSecond int64) (again time.Duration, err error) {
	ctx, stop := context.WithTimeout(p.q.open, oneTurn)
	defer stop()
	got := int64(0)
	err = p.change(ctx, host, func(f *fleet.Pace) error {
		got, again = f.TakeShare(p.q.name, users, want, perSecond, p.q.clock.now())
		return nil
	})
	if err != nil {
		return oneTurn, err
	}
	*rate = got
	return again, nil
}

// users returns the number of downloads that use s.
func (p *Pacer) users(s *sharer) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return s.users
}

// forget removes s and reports true, unless another download from host has begun.
func (p *Pacer) forget(host string, s *sharer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.users == 0 {
		delete(p.sharing, host)
	}
	return s.users == 0
}
