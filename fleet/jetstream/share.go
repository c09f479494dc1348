package jetstream

import (
	"context"
	"time"

	"braid/fleet"
)

// A Limited limits this process to a number of bytes per second, which Set changes, and counts the bytes passed. Its
// methods do not block.
type Limited interface {
	Set(bytes int64)
	Passed() int64
}

// leastShare is the limit of a process without a share; zero would mean no limit.
const leastShare = 1 << 10

// A sharer maintains this process's share of a host's bytes per second.
type sharer struct {
	users     int
	perSecond int64
	to        Limited
}

// Share keeps the limit of to at this process's share of perSecond, until end is called. perSecond is the number of
// bytes per second that a host may send to the whole fleet. Each download from the host calls Share.
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

// share renews the share periodically and gives it back when no download needs it.
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

// leave gives the share back. If that fails, the share expires.
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

// ask requests a share from the queue. Without an answer the previous share stays.
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

// users returns the number of downloads that receive data from the host.
func (p *Pacer) users(s *sharer) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return s.users
}

// forget removes s, unless a download from the host has begun again. It reports whether it removed s.
func (p *Pacer) forget(host string, s *sharer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.users == 0 {
		delete(p.sharing, host)
	}
	return s.users == 0
}
