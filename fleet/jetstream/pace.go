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

// A Pacer applies the limits of hosts to the whole fleet. If a host asked one worker to wait, all workers wait.
// Requests take turns across the fleet, and the bytes per second of a host are divided. While the queue does not
// answer, this process keeps the pace by itself and stays at its share of the bytes. Hosts are host:port. A Pacer is
// safe for concurrent use.
type Pacer struct {
	q     *Queue
	limit func(*url.URL) fleet.Limit
	most  int // maximum of jobs of a host with a line, in this process

	patience time.Duration // oneTurn

	mu      sync.Mutex
	known   map[string]fleet.Pace // by host, from the queue or this process
	begun   map[string]int        // jobs begun but not yet recorded in the queue, by host
	sharing map[string]*sharer

	strangers strangers

	taking sync.Mutex // for taken
	taken  map[string]turns
}

// turns are turns at a host that this process took from the queue. left of them are unused.
type turns struct {
	next time.Time
	gap  time.Duration
	left int
	took int // number taken
}

// following returns the number of turns to take next. If t was used up early, it is twice as many as before, limited by
// ahead. Otherwise it is one, because unused turns are lost to all workers.
func (t *turns) following(perSecond float64, now time.Time) int {
	if t.left > 0 || t.took == 0 || !now.Before(t.next) {
		return 1
	}
	return min(2*t.took, max(1, int(perSecond*ahead.Seconds())))
}

const (
	// ahead is how far ahead turns are taken at most, so that a fast worker does not ask the queue for each turn.
	ahead = 200 * time.Millisecond
	// oneTurn is how long the queue may take to answer a request for turns.
	oneTurn = time.Second
)

// Pacer returns a Pacer that follows the limits of hosts until the queue is closed. It is called before Next. Limit
// returns the limit that this process knows for the host of a URL. This process has atOnce jobs at most. At most half
// of them are of one host, if other jobs wait for that host.
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

// learn applies the changed pace of a host in the queue.
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

// Held returns how long a host is not to be asked, and the HTTP status that asked for the pause.
func (p *Pacer) Held(host string, now time.Time) (time.Duration, int) {
	pace := p.of(host)
	return pace.Held(p.q.clock.at(now))
}

// of returns the known pace of a host.
func (p *Pacer) of(host string) fleet.Pace {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known[host]
}

// Hold pauses the requests of the whole fleet to a host.
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

// Turn takes the next free turn of the fleet at a host that allows perSecond requests per second, and returns the time
// until then. It may ask the queue, for a second at most.
func (p *Pacer) Turn(ctx context.Context, host string, perSecond float64, now time.Time) time.Duration {
	p.taking.Lock()
	defer p.taking.Unlock()
	at := p.q.clock.at(now)
	t := p.taken[host]
	if t.left == 0 || t.next.Before(at.Add(-t.gap)) { // past turns are dropped; otherwise all would be used at once
		t = p.take(ctx, host, t.following(perSecond, at), perSecond, at)
	}
	wait := max(0, t.next.Sub(at))
	t.next, t.left = t.next.Add(t.gap), t.left-1
	p.taken[host] = t
	return wait
}

// take takes n turns from those of the fleet.
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
