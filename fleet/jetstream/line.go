package jetstream

import (
	"context"
	"errors"
	"math"
	"net/url"
	"time"

	"braid/address"
	"braid/fleet"
)

// oneLook is the minimum time until a waiting job is checked again, unless its turn is sooner.
const oneLook = 2 * time.Second

// admit returns how long the job of r must stay in the queue before this process may take it; 0 means not at all. In
// the queue, the job occupies no worker. host is the host where the job can begin first. place is the job's place in
// the line of host, if it has one.
func (p *Pacer) admit(ctx context.Context, r *fleet.Record) (host string, place fleet.Place, wait time.Duration) {
	if place = r.Place; p == nil || !r.Due(p.q.clock.now()) {
		return "", place, 0
	}
	host, l, wait := p.nearest(r)
	if l != (fleet.Limit{}) && place.Host != host {
		number, longer, err := p.enter(ctx, host, l)
		if err != nil { // take the job: its requests still take turns
			return host, place, 0
		}
		place, wait = fleet.Place{Host: host, Number: number}, longer
	}
	switch held, _ := p.Held(host, time.Now()); {
	case wait > fleet.Soon:
		return host, place, max(wait/2, min(wait, oneLook), min(held, wait))
	case place == r.Place && place.Number > 0 && p.crowded(host):
		return host, place, oneLook / 2
	case l == (fleet.Limit{}) && host != "":
		return host, place, p.pass(host, r.Job.Key())
	}
	return host, place, 0
}

// pass returns how long a job at host stays in the queue, so that workers are left for jobs at other hosts. host has no limit.
func (p *Pacer) pass(host, key string) time.Duration {
	there := p.jobsAt(host)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.strangers.wait(host, key, there)
}

// jobsAt returns the number of jobs at host that this process has.
func (p *Pacer) jobsAt(host string) (n int) {
	for _, c := range p.q.mine.all() {
		if c.host == host {
			n++
		}
	}
	return n
}

// nearest returns the host where the job of r can begin first, its limit and the wait until then.
func (p *Pacer) nearest(r *fleet.Record) (host string, l fleet.Limit, wait time.Duration) {
	wait = math.MaxInt64
	for _, word := range r.Job.URIs {
		u, err := url.Parse(word)
		if err != nil || u.Host == "" {
			continue
		}
		name := address.HostPort(u)
		pace, limit, number := p.of(name), p.limit(u), uint64(math.MaxUint64) // the number that the next job would get
		if r.Place.Host == name {
			number = r.Place.Number
		}
		w := pace.Wait(number, p.q.clock.now())
		if limit == (fleet.Limit{}) {
			w, _ = p.Held(name, time.Now())
		}
		if w < wait {
			host, l, wait = name, limit, w
		}
	}
	if host == "" {
		wait = 0
	}
	return host, l, wait
}

// enter adds a job to the line of host. It returns the job's number in the line and the wait until its turn.
func (p *Pacer) enter(ctx context.Context, host string, l fleet.Limit) (number uint64, wait time.Duration, err error) {
	ctx, stop := context.WithTimeout(ctx, oneTurn)
	defer stop()
	err = p.change(ctx, host, func(f *fleet.Pace) error {
		at := p.q.clock.now()
		number = f.Enter(l, at)
		wait = f.Wait(number, at)
		return nil
	})
	return number, wait, err
}

// crowded reports whether jobs are waiting for host and this process already has the maximum number of jobs there.
func (p *Pacer) crowded(host string) bool {
	if pace := p.of(host); pace.Wait(math.MaxUint64, p.q.clock.now()) <= fleet.Soon {
		return false
	}
	return p.jobsAt(host) >= p.most
}

// began records that the job with that key has begun at host.
func (p *Pacer) began(host, key string) {
	if p == nil || host == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun[host]++
	p.strangers.took(key)
}

// over records how a job at host has ended. k is also Right for a running job that makes progress.
func (p *Pacer) over(host string, k fleet.Kind) {
	if p == nil || host == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.strangers.ended(host, k)
}

// Ended stores that a job received that many bytes from the host of u, if its bytes are limited. It takes at most a second.
func (p *Pacer) Ended(ctx context.Context, u *url.URL, bytes int64) {
	if p.limit(u).Bytes == 0 {
		return
	}
	ctx, stop := context.WithTimeout(ctx, oneTurn)
	defer stop()
	if err := p.change(ctx, address.HostPort(u), func(f *fleet.Pace) error {
		f.Ended(bytes)
		return nil
	}); err != nil {
		p.q.log.Debug("queue", "pace", err)
	}
}

// HostsHeld reports whether all hosts of the job must not be contacted for a while.
func (c *Claim) HostsHeld() bool {
	hosts := 0
	for _, word := range c.Record.Job.URIs {
		u, err := url.Parse(word)
		if err != nil || u.Host == "" {
			continue
		}
		hosts++
		if held, _ := c.q.pacer.Held(address.HostPort(u), time.Now()); held <= 2*fleet.Soon {
			return false
		}
	}
	return hosts > 0
}

// yield cancels the contexts of jobs that only wait for paused hosts. They are given back, which frees their workers.
func (p *Pacer) yield() {
	for rest(p.q.open, fleet.Soon) == nil {
		for _, c := range p.q.mine.all() {
			if c.idle() && c.HostsHeld() {
				c.cancel(errHeld)
			}
		}
	}
}

var errHeld = errors.New("its hosts must not be contacted yet")

// idle reports whether the job is incomplete and has received no byte since the last call.
func (c *Claim) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	done := c.progress.Done
	same := c.seen && c.seenDone == done
	c.seen, c.seenDone = true, done
	return same && (c.progress.Size <= 0 || done < c.progress.Size)
}
