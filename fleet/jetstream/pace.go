package jetstream

import (
	"context"
	"encoding/hex"
	"net/url"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"braid/fleet"
)

// A Pacer applies the limits of hosts to the whole fleet. If a host asks one worker to wait, all workers wait. The
// requests of all workers to a host take turns, and its bytes per second are divided among them. While the queue does
// not answer, this process limits its own requests and stays at its share of the bytes. Hosts are named HOST:PORT. A
// Pacer is safe for concurrent use.
type Pacer struct {
	q     *Queue
	limit func(*url.URL) fleet.Limit
	most  int // maximum number of this process's jobs at a host that other jobs wait for

	patience time.Duration // usually oneTurn

	mu      sync.Mutex
	known   map[string]fleet.Pace // by host, as the queue or this process has set it
	begun   map[string]int        // number of jobs that have begun at a host and are not recorded in the queue yet, by host
	sharing map[string]*sharer

	strangers strangers

	taking sync.Mutex // guards taken
	taken  map[string]turns
}

// turns are turns for requests to a host that this process has reserved in the queue. left of them are unused.
type turns struct {
	next time.Time
	gap  time.Duration
	left int
	took int // number of turns that were reserved
}

// following returns the number of turns to reserve next. If t was used up early, that is twice as many as before,
// within the limit ahead. Otherwise it is one, because reserved turns that are not used are lost for all workers.
func (t *turns) following(perSecond float64, now time.Time) int {
	if t.left > 0 || t.took == 0 || !now.Before(t.next) {
		return 1
	}
	return min(2*t.took, max(1, int(perSecond*ahead.Seconds())))
}

const (
	// ahead is how far into the future turns are reserved, so that a fast worker need not ask the queue for each turn.
	ahead = 200 * time.Millisecond
	// oneTurn is how long the queue may take to answer a request for turns.
	oneTurn = time.Second
)

// Pacer returns a Pacer that applies the limits of hosts until the queue is closed. It must be called before Next.
// limit returns the limit that this process knows for the host of a URL. atOnce is the maximum number of jobs of this
// process. Half of them may be at the same host if other jobs are waiting for that host.
func (q *Queue) Pacer(atOnce int, limit func(*url.URL) fleet.Limit) *Pacer {
	p := &Pacer{
		q: q, limit: limit, most: max(1, atOnce/2), patience: oneTurn,
		known: map[string]fleet.Pace{}, begun: map[string]int{}, sharing: map[string]*sharer{}, taken: map[string]turns{},
	}
	q.pacer = p
	q.running.Go(func() { q.life.watching(q.storage.pace, jetstream.AllKeys, p.learn) })
	q.running.Go(p.yield)
	return p
}

// learn applies e, the changed pace of a host in the queue.
func (p *Pacer) learn(e jetstream.KeyValueEntry) {
	host, err := hex.DecodeString(e.Key())
	var pace fleet.Pace
	if err != nil || decode(e.Value(), &pace) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if before := p.known[string(host)]; before.Until.After(pace.Until) {
		pace.Until, pace.Status = before.Until, before.Status
	}
	p.known[string(host)] = pace
}

// Held returns how long host must not be contacted, and the HTTP status of the response that asked for this.
func (p *Pacer) Held(host string, now time.Time) (time.Duration, int) {
	pace := p.of(host)
	return pace.Held(p.q.clock.at(now))
}

// of returns the pace of host that this process knows.
func (p *Pacer) of(host string) fleet.Pace {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known[host]
}

// Hold stops the requests of the whole fleet to host for the duration wait. status is the HTTP status that asked for this.
func (p *Pacer) Hold(host string, status int, wait time.Duration, now time.Time) {
	p.mu.Lock()
	pace := p.known[host]
	longer := pace.Hold(status, wait, p.q.clock.at(now))
	p.known[host] = pace
	p.mu.Unlock()
	if !longer {
		return
	}
	p.q.running.Go(func() {
		ctx, stop := context.WithTimeout(p.q.open, oneCall)
		defer stop()
		err := p.change(ctx, host, func(f *fleet.Pace) error {
			if !f.Hold(status, wait, p.q.clock.at(now)) {
				return errSame
			}
			return nil
		})
		if err != nil && err != errSame {
			p.q.log.Debug("queue", "pace", err)
		}
	})
}

func (p *Pacer) change(ctx context.Context, host string, f func(*fleet.Pace) error) error {
	_, err := change(ctx, p.q.storage.pace, hex.EncodeToString([]byte(host)), f)
	return err
}

// Turn takes the next free turn of the fleet for a request to host, which allows perSecond requests per second. It
// returns the time until that turn. It may ask the queue, which takes at most a second.
func (p *Pacer) Turn(ctx context.Context, host string, perSecond float64, now time.Time) time.Duration {
	p.taking.Lock()
	defer p.taking.Unlock()
	at := p.q.clock.at(now)
	t := p.taken[host]
	if t.left == 0 || t.next.Before(at.Add(-t.gap)) { // drop turns in the past: otherwise they would all be used at once
		t = p.take(ctx, host, t.following(perSecond, at), perSecond, at)
	}
	wait := max(0, t.next.Sub(at))
	t.next, t.left = t.next.Add(t.gap), t.left-1
	p.taken[host] = t
	return wait
}

// take reserves the next n turns of the fleet at host.
func (p *Pacer) take(ctx context.Context, host string, n int, perSecond float64, at time.Time) (t turns) {
	ctx, stop := context.WithTimeout(ctx, p.patience)
	defer stop()
	t.left, t.took = n, n
	p.mu.Lock()
	begun := p.begun[host]
	delete(p.begun, host)
	p.mu.Unlock()
	err := p.change(ctx, host, func(f *fleet.Pace) error {
		f.Began(begun)
		t.next, t.gap = f.Turns(t.left, perSecond, at)
		return nil
	})
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		alone := p.known[host]
		t.next, t.gap = alone.Turns(t.left, perSecond, at)
		p.known[host] = alone
	}
	return t
}
