package httpsource

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"braid/source"
)

// hosts is what all requests of a Client have to keep to at hosts, by host:port: what one is told holds for the others
// (rule 66). The zero value knows of none.
type hosts struct {
	mu    sync.Mutex
	known map[string]hostPace
}

// A Pacer is what keeps the pace of hosts for several Clients, in other processes say. Hosts are host:port. Its methods
// are called by several goroutines; Held and Hold do not block.
type Pacer interface {
	// Held returns how long a host is not to be asked, and the status with which it said so.
	Held(host string, now time.Time) (wait time.Duration, status int)
	// Hold keeps requests from a host for a time, as it said with a status.
	Hold(host string, status int, wait time.Duration, now time.Time)
	// Turn takes the next free turn at a host that gets so many requests a second, and returns how far off it is.
	Turn(ctx context.Context, host string, perSecond float64, now time.Time) (wait time.Duration)
}

// pacer is what keeps the pace of hosts.
func (c *Client) pacer() Pacer {
	if c.Pace != nil {
		return c.Pace
	}
	return &c.hosts
}

// A hostPace is about one host.
type hostPace struct {
	until  time.Time // it is not asked before, as it said with Retry-After
	status int       // of that answer
	next   time.Time // the first free turn for a request
}

const (
	// mostHeld is how long a host is left alone that wants more: its word may be a mistake, and a Client may live for months.
	mostHeld = time.Hour
	// mostHosts is how many are remembered before those are forgotten that nothing holds.
	mostHosts = 1000
)

// Hold is that of a Pacer.
func (h *hosts) Hold(host string, status int, wait time.Duration, now time.Time) {
	h.change(host, now, func(p *hostPace) {
		if until := now.Add(min(wait, mostHeld)); until.After(p.until) {
			p.until, p.status = until, status
		}
	})
}

// Held is that of a Pacer.
func (h *hosts) Held(host string, now time.Time) (wait time.Duration, status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.known[host]
	return max(0, p.until.Sub(now)), p.status
}

// Turn is that of a Pacer.
func (h *hosts) Turn(_ context.Context, host string, perSecond float64, now time.Time) (wait time.Duration) {
	h.change(host, now, func(p *hostPace) {
		if p.next.Before(now) {
			p.next = now
		}
		wait = p.next.Sub(now)
		p.next = p.next.Add(time.Duration(float64(time.Second) / perSecond))
	})
	return wait
}

func (h *hosts) change(host string, now time.Time, f func(*hostPace)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known == nil {
		h.known = map[string]hostPace{}
	}
	if len(h.known) >= mostHosts {
		maps.DeleteFunc(h.known, func(_ string, p hostPace) bool { return p.until.Before(now) && p.next.Before(now) })
	}
	p := h.known[host]
	f(&p)
	h.known[host] = p
}

// shortTurn is how far off a turn may be that is always waited for.
const shortTurn = time.Second

// turns are those that were given and are not used yet.
type turns struct {
	mu  sync.Mutex
	all map[string][]time.Time // by host
}

func (t *turns) keep(host string, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil || len(t.all) >= mostHosts {
		t.all = map[string][]time.Time{}
	}
	t.all[host] = append(t.all[host], at)
	slices.SortFunc(t.all[host], time.Time.Compare)
}

// take takes the first one at a host that is not before since.
func (t *turns) take(host string, since time.Time) (at time.Time, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for all := t.all[host]; len(all) > 0; all = all[1:] {
		if all[0].Before(since) {
			continue
		}
		t.all[host] = all[1:]
		return all[0], true
	}
	delete(t.all, host)
	return at, false
}

// turn waits until a request may go out to the host at hand. Where that is not soon, the error says when (source.Error.Held).
func (c *chain) turn(ctx context.Context) error {
	client, host, now := c.s.client, source.HostPort(c.trail.URL), time.Now()
	if wait, status := client.pacer().Held(host, now); wait > 0 {
		return c.leftAlone(status, wait, now)
	}
	perSecond := 0.0
	if client.HostRate != nil {
		perSecond = client.HostRate(c.trail.URL)
	}
	if perSecond <= 0 {
		return nil
	}
	at, ok := c.s.turns.take(host, time.Time{})
	if !ok {
		at, ok = client.unused.take(host, now)
	}
	if !ok {
		at = now.Add(client.pacer().Turn(ctx, host, perSecond, now))
	}
	wait := at.Sub(now)
	if wait > shortTurn && c.s.opts.Returns {
		c.s.turns.keep(host, at)
		e := c.fail(nil, source.FaultNetwork, errTurn)
		e.Retry, e.Held, e.After = true, true, wait
		return e
	}
	timer := time.NewTimer(max(0, wait))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		client.unused.keep(host, at)
		return ctx.Err()
	}
}

var errTurn = errors.New("it is not its turn yet")

// leftAlone is the error of a host that is not asked, as it said so with a status.
func (c *chain) leftAlone(status int, wait time.Duration, now time.Time) error {
	e := c.fail(nil, source.FaultRefused, fmt.Errorf("%w: it said %d %s; it will be back at %s", source.ErrNotAsked, status, http.StatusText(status), now.Add(wait).UTC().Format(time.RFC3339)))
	e.Status = status
	if wait <= source.MaxAfter { // rule 23
		e.Retry, e.After = true, wait
	}
	return e
}
