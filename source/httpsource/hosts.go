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

// A hosts is the Pacer of one Client. A delay that a response demands applies to all requests of the Client to that
// host (rule 66). The zero value is ready to use.
type hosts struct {
	mu    sync.Mutex
	known map[string]hostPace
}

// A Pacer decides when requests to a host may be sent. Several Clients, also in several processes, can share a Pacer. A
// host is a host:port. All methods may be called concurrently. Held and Hold do not block.
type Pacer interface {
	// Held returns for how long no request may be sent to a host, and the status of the response that demanded the
	// delay.
	Held(host string, now time.Time) (wait time.Duration, status int)
	// Hold records that a host demanded, in a response with this status, that no request follows for the duration wait.
	Hold(host string, status int, wait time.Duration, now time.Time)
	// Turn reserves the next free time for a request to a host that is limited to perSecond requests a second. It
	// returns how long to wait for that time.
	Turn(ctx context.Context, host string, perSecond float64, now time.Time) (wait time.Duration)
}

// pacer returns the Pacer to use.
func (c *Client) pacer() Pacer {
	if c.Pace != nil {
		return c.Pace
	}
	return &c.hosts
}

// A hostPace is the pace of one host.
type hostPace struct {
	until  time.Time // no request is sent before this time, because of a Retry-After
	status int       // of the response with Retry-After
	next   time.Time // the next free turn
}

const (
	// mostHeld limits for how long no request is sent to a host. A longer Retry-After may be a mistake, and a Client
	// may live for months.
	mostHeld = time.Hour
	// mostHosts is the number of stored hosts at which hosts without a pending delay are removed.
	mostHosts = 1000
)

// Hold implements Pacer.
func (h *hosts) Hold(host string, status int, wait time.Duration, now time.Time) {
	h.change(host, now, func(p *hostPace) {
		if until := now.Add(min(wait, mostHeld)); until.After(p.until) {
			p.until, p.status = until, status
		}
	})
}

// Held implements Pacer.
func (h *hosts) Held(host string, now time.Time) (wait time.Duration, status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.known[host]
	return max(0, p.until.Sub(now)), p.status
}

// Turn implements Pacer.
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

// shortTurn is the longest time that a request waits for its turn even if Options.Returns is set.
const shortTurn = time.Second

// A turns holds the times of turns that were reserved but not used yet.
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

// take removes and returns the first turn at a host that is not before since.
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

// turn waits until a request may be sent to the current host. It returns an error instead if the host demanded a delay,
// or if the wait is longer than shortTurn and the caller prefers an error (Options.Returns).
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
		return c.givenUp(ctx)
	}
}

var errTurn = errors.New("waiting for its turn")

// leftAlone returns the error for a host to which no request may be sent for the duration wait, because of an earlier
// response with this status.
func (c *chain) leftAlone(status int, wait time.Duration, now time.Time) error {
	e := c.fail(nil, source.FaultRefused,
		fmt.Errorf("%w: it responded %d %s and asked to wait until %s", source.ErrNotAsked, status, http.StatusText(status),
			now.Add(wait).UTC().Format(time.RFC3339)))
	e.Status = status
	if wait <= source.MaxAfter { // rule 23
		e.Retry, e.After = true, wait
	}
	return e
}
