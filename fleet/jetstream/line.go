package jetstream

import (
	"context"
	"errors"
	"maps"
	"math"
	"net/url"
	"slices"
	"time"

	"braid/address"
	"braid/fleet"
)

// oneLook is the shortest time until the next look whether the turn of a job has come, unless the turn is sooner.
const oneLook = 2 * time.Second

// admit decides whether a job may be taken. It may not as long as none of its hosts has room for it: then it keeps its
// place in the line of one, and is given back for a time, so that it waits in the queue and not in a worker.
func (p *Pacer) admit(ctx context.Context, r *fleet.Record) (host string, place fleet.Place, wait time.Duration) {
	if place = r.Place; p == nil || !r.Due(p.q.now()) {
		return "", place, 0
	}
	host, l, wait := p.nearest(r)
	if l != (fleet.Limit{}) && place.Host != host {
		number, longer, err := p.enter(ctx, host, l)
		if err != nil { // its requests keep to the pace
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

// pass returns for how long a job of a host without a limit is left to the queue, so that those of other hosts have room.
func (p *Pacer) pass(host, key string) time.Duration {
	there := p.jobsAt(host)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.strangers.wait(host, key, there)
}

// jobsAt is how many jobs of a host this process has.
func (p *Pacer) jobsAt(host string) (n int) {
	p.q.mu.Lock()
	defer p.q.mu.Unlock()
	for _, c := range p.q.mine {
		if c != nil && c.host == host {
			n++
		}
	}
	return n
}

// nearest is the host of a job at which it may begin first.
func (p *Pacer) nearest(r *fleet.Record) (host string, l fleet.Limit, wait time.Duration) {
	wait = math.MaxInt64
	for _, word := range r.Job.URIs {
		u, err := url.Parse(word)
		if err != nil || u.Host == "" {
			continue
		}
		name := address.HostPort(u)
		pace, limit, number := p.of(name), p.limit(u), uint64(math.MaxUint64) // which is the next one
		if r.Place.Host == name {
			number = r.Place.Number
		}
		w := pace.Wait(number, p.q.now())
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

// enter has a job stand in the line of a host.
func (p *Pacer) enter(ctx context.Context, host string, l fleet.Limit) (number uint64, wait time.Duration, err error) {
	ctx, stop := context.WithTimeout(ctx, oneTurn)
	defer stop()
	err = p.change(ctx, host, func(f *fleet.Pace) error {
		at := p.q.now()
		number = f.Enter(l, at)
		wait = f.Wait(number, at)
		return nil
	})
	return number, wait, err
}

// crowded reports whether this process has as many jobs of a host as it may have while others wait for it.
func (p *Pacer) crowded(host string) bool {
	if pace := p.of(host); pace.Wait(math.MaxUint64, p.q.now()) <= fleet.Soon {
		return false
	}
	return p.jobsAt(host) >= p.most
}

// began takes down that a job has begun at a host.
func (p *Pacer) began(host, key string) {
	if p == nil || host == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun[host]++
	p.strangers.took(key)
}

// over takes down how a job of a host has ended, or that it gets somewhere, which is Right.
func (p *Pacer) over(host string, k fleet.Kind) {
	if p == nil || host == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.strangers.ended(host, k)
}

// Ended stores how many bytes a job has brought from the host of a URL, if that has a limit. It takes a second at most.
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

// HostsHeld reports whether all hosts of the job are to be left alone for a while.
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

// yield ends the contexts of jobs that only wait for hosts which are to be left alone, so that they are given back and
// make room for others.
func (p *Pacer) yield() {
	for rest(p.q.open, fleet.Soon) == nil {
		p.q.mu.Lock()
		claims := slices.Collect(maps.Values(p.q.mine))
		p.q.mu.Unlock()
		for _, c := range claims {
			if c != nil && c.idle() && c.HostsHeld() {
				c.cancel(errHeld)
			}
		}
	}
}

var errHeld = errors.New("its hosts are to be left alone")

// idle reports whether no byte came since it was asked the last time, and some are missing.
func (c *Claim) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	done := c.progress.Done
	same := c.seen && c.seenDone == done
	c.seen, c.seenDone = true, done
	return same && (c.progress.Size <= 0 || done < c.progress.Size)
}
