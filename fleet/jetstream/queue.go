// Package jetstream stores the records of a fleet in NATS JetStream: a stream that wakes workers, and values that are
// changed by compare-and-set. Package fleet decides which changes of a record are valid.
//
//	q, err := jetstream.Open(ctx, jetstream.Options{URL: "nats://127.0.0.1:4222", Name: "worker 1"})
//	news, err := q.Report(ctx, fleet.Job{Name: "disk.iso", URIs: []string{"https://example.org/disk.iso"}})
//	claim, err := q.Next(ctx)            // waits for a job and takes it
//	err = claim.Finish(ctx, fleet.Ending{Kind: fleet.Right})
//
// A message contains only the key of a record, so a duplicate, late or early message does no harm. Each queued, running
// or waiting record has a message until its end is stored.
//
// [Host] runs a server in this process, for the processes of one machine. It does not serve other machines; use
// nats-server for that.
package jetstream

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"braid/fleet"
)

// Options select a queue, and describe the process that uses it.
type Options struct {
	// URL is nats://HOST:PORT, for a server on this machine, or tls://HOST:PORT. Several URLs are separated by commas.
	URL string
	// Name identifies this process. No other process of the queue may have the same name.
	Name string
	// Credentials is the path of a file with NATS credentials. It may be empty.
	Credentials string
	// TLS is the configuration for tls:// URLs. If nil, the system's roots are used.
	TLS *tls.Config
	// Lease is how long this process keeps a job, or the lead of a group, without renewal. If zero, it is fleet.UsualLease.
	Lease time.Duration
	// Works reports that the process takes jobs. The stream delivers a message again if it is not acknowledged within
	// the Lease of the process that opened the queue last.
	Works bool
	// There reports that the queue must exist. Open does not create it then.
	There bool
	// Host, if not nil, provides the server. URL, Credentials and TLS are then ignored.
	Host *Host
	// Log receives warnings and errors. If nil, they are discarded.
	Log *slog.Logger

	clock func() time.Time // clock of this machine; nil means time.Now
}

// A Queue is a connection to a queue. It is safe for concurrent use.
type Queue struct {
	name    string
	lease   time.Duration
	log     *slog.Logger
	storage storage
	clock   clock
	life    life
	mine    mine
	yields  yields
	paused  atomic.Bool
	// toldNewer reports that a warning about values of a newer version of braid was logged.
	toldNewer atomic.Bool
	// destination is where this worker places files.
	destination atomic.Pointer[Destination]
	pacer       *Pacer          // nil if this process takes no jobs
	open        context.Context // canceled by Close
	stop        context.CancelFunc
	running     sync.WaitGroup

	mu    sync.Mutex
	pulls *pulls // nil if this process takes no jobs
}

const (
	streamName   = "BRAID_JOBS"
	subject      = "braid.jobs"
	subjectAsk   = "braid.ask" // workers answer with a fleet.Worker
	consumerName = "workers"
	keyPaused    = "paused"
	keyClock     = "clock"
	// duplicates is how long the stream recognizes a second message with the same ID. A later duplicate does no harm.
	duplicates = 2 * time.Minute
	// paceTime is how long the pace of a host is stored. Pauses are at most an hour long.
	paceTime = 2 * time.Hour
	// oneCall is how long one request may take.
	oneCall = 5 * time.Second
	// openTime is how long the servers of a cluster may take to agree on the existing state.
	openTime = 30 * time.Second
)

// An InsecureError reports a URL that would make data cross the network unencrypted.
type InsecureError struct{ Host string }

func (e *InsecureError) Error() string {
	return e.Host + " is another machine, and everything would cross the network unencrypted"
}

// CheckURL returns an error if a URL in list is malformed, or is nats:// and names another machine.
func CheckURL(list string) error {
	for word := range strings.SplitSeq(list, ",") {
		u, err := url.Parse(word)
		switch {
		case err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" || strings.Trim(u.Path, "/") != "":
			return errors.New("write embedded, embedded:FOLDER, nats://127.0.0.1:4222 or tls://HOST:4222")
		case u.Scheme == "nats" && !isLoopback(u.Hostname()):
			return &InsecureError{u.Hostname()}
		}
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Open connects to a queue and creates its missing parts. Refused, Untrusted, Missing and Lacking classify its errors.
// The queue is open until Close, even after ctx is done.
func Open(ctx context.Context, o Options) (*Queue, error) {
	q := &Queue{
		name: o.Name, lease: cmp.Or(o.Lease, fleet.UsualLease), log: o.Log,
		mine: mine{claims: map[string]*Claim{}}, life: life{back: make(chan struct{})},
		yields: yields{at: map[string]time.Time{}},
	}
	if q.clock.local = o.clock; q.clock.local == nil {
		q.clock.local = time.Now
	}
	q.storage = storage{works: o.Works, lease: q.lease, there: o.There, here: o.Host != nil && o.clock == nil}
	if q.log == nil {
		q.log = slog.New(slog.DiscardHandler)
	}
	if err := q.connect(ctx, o); err != nil {
		return nil, err
	}
	q.open, q.stop = context.WithCancel(context.WithoutCancel(ctx))
	q.life.open = q.open
	back := q.life.another()
	first, end := context.WithTimeout(ctx, openTime)
	defer end()
	err := q.storage.prepare(first, &q.clock)
	q.storage.there = false // from now on, a queue that is lost is created again
	if err == nil {
		err = answered(first, func(once context.Context) (err error) {
			if q.life.made, err = q.storage.madeAt(once); err == nil {
				err = q.readPaused(once)
			}
			return err
		})
	}
	if err == nil && q.storage.works {
		q.mu.Lock()
		q.pulls, err = newPulls(q.storage.conn, q.storage.clustered())
		q.mu.Unlock()
	}
	if err != nil {
		q.Close()
		return nil, cmp.Or(ctx.Err(), err)
	}
	if q.storage.works {
		if _, err := q.storage.conn.Subscribe(subjectAsk, q.answer); err != nil {
			q.Close()
			return nil, err
		}
		k := &keeper{q: q, seen: map[fleet.Priority]int{}}
		q.running.Go(func() { k.run(q.open) })
	}
	if !q.storage.here {
		q.running.Go(func() { q.keepClock(q.open) })
	}
	q.running.Go(func() { keepQueue(q.open, q, back) })
	q.running.Go(func() { keepPaused(q) })
	return q, nil
}

func (q *Queue) connect(ctx context.Context, o Options) (err error) {
	var forbidden atomic.Bool // a permission violation was logged
	options := []nats.Option{
		nats.Name("braid " + q.name), nats.Timeout(oneCall), nats.MaxReconnects(-1),
		nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(2),
		nats.CustomReconnectDelay(func(int) time.Duration { return 100*time.Millisecond + rand.N(200*time.Millisecond) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				q.log.Warn("queue", "state", "lost", "error", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			q.log.Info("queue", "state", "back")
			q.life.renew()
			q.mu.Lock()
			defer q.mu.Unlock()
			if q.pulls != nil {
				q.pulls.renew()
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrPermissionViolation) && !forbidden.Swap(true) { // each message causes the same error
				q.log.Warn("queue", "error", err)
			}
			q.log.Debug("queue", "error", err)
		}),
	}
	at, dialing, err := o.dialing(ctx)
	if err != nil {
		return err
	}
	options = append(options, dialing...)
	for late := time.Now().Add(openTime); ; {
		if q.storage.conn, err = nats.Connect(at, options...); err == nil {
			break
		}
		// If the process that ran the server has just ended, another one starts a server.
		if o.Host == nil || time.Now().After(late) || rest(ctx, lookEvery) != nil {
			return fmt.Errorf("no connection: %w", err)
		}
	}
	q.storage.js, err = jetstream.New(q.storage.conn, jetstream.WithDefaultTimeout(oneCall))
	return err
}

// dialing returns the URL of the server and the options of the connection.
func (o *Options) dialing(ctx context.Context) (at string, options []nats.Option, err error) {
	if o.Host != nil { // the URL is not used: o.Host dials
		options = append(options, nats.SetCustomDialer(o.Host), nats.IgnoreDiscoveredServers())
		return nats.DefaultURL, options, o.Host.ready(ctx)
	}
	if strings.Contains(o.URL, "nats://") {
		options = append(options, nats.IgnoreDiscoveredServers()) // servers named by the server may be on other machines
	}
	if o.Credentials != "" {
		options = append(options, nats.UserCredentials(o.Credentials))
	}
	if o.TLS != nil {
		options = append(options, nats.Secure(o.TLS))
	}
	return o.URL, options, CheckURL(o.URL)
}

// Close ends the connection to the queue.
func (q *Queue) Close() {
	if q.stop != nil {
		q.stop()
	}
	q.running.Wait()
	q.storage.conn.Close()
}

// keepClock checks the queue and measures the clock's offset every minute, because one server of a cluster may be lost
// while the connection stays.
func (q *Queue) keepClock(ctx context.Context) {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			err := look(ctx, q)
			if err == nil {
				err = q.clock.measure(ctx, q.storage.leases)
			}
			if err != nil && ctx.Err() == nil {
				q.log.Debug("queue", "clock", "unknown", "error", err)
			}
		}
	}
}
