// Package jetstream stores the records of a fleet in NATS JetStream: a stream that wakes workers, and values that are
// changed by compare-and-set. Package fleet decides which changes of a record are valid.
//
//	q, err := jetstream.Open(ctx, jetstream.Options{URL: "nats://127.0.0.1:4222", Name: "worker 1"})
//	news, err := q.Report(ctx, fleet.Job{Name: "disk.iso", URIs: []string{"https://example.org/disk.iso"}})
//	claim, err := q.Next(ctx)            // waits for a job, and has it
//	err = claim.Finish(ctx, fleet.Ending{Kind: fleet.Right})
//
// A message is only the key of a record: a duplicate, late or early message does no harm. Each queued, running or
// waiting record has a message until its end is stored.
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

// Options select a queue.
type Options struct {
	// URL is nats://HOST:PORT, which must be on this machine, or tls://HOST:PORT; several are separated by commas.
	URL string
	// Name identifies this process; no other process of the queue has it.
	Name string
	// Credentials is the path of a NATS credentials file, or empty.
	Credentials string
	// TLS is the configuration for tls:// URLs. If nil, the system's roots are used.
	TLS *tls.Config
	// Lease is how long this process keeps a job, or the lead, without renewal. If zero, it is fleet.UsualLease.
	Lease time.Duration
	// Works means that the process takes jobs. The stream delivers a message again after its Lease; of several
	// processes the last one's counts.
	Works bool
	// There means that the queue must exist: Open does not create it.
	There bool
	// Host, if not nil, is the server. URL, Credentials and TLS are not used then.
	Host *Host
	// Log receives faults. If nil, they are discarded.
	Log *slog.Logger

	clock func() time.Time // clock of this machine; nil means time.Now
}

// A Queue is a connection to a queue. It is safe for concurrent use.
type Queue struct {
	name   string
	clock  func() time.Time
	lease  time.Duration
	works  bool
	there  bool // the queue must exist
	here   bool // the server is on this machine and has its clock
	log    *slog.Logger
	conn   *nats.Conn
	js     jetstream.JetStream
	jobs   jetstream.KeyValue
	leases jetstream.KeyValue
	pace   jetstream.KeyValue
	feeds  jetstream.KeyValue
	pulls  *pulls       // nil if it takes no jobs
	offset atomic.Int64 // server's clock minus this machine's
	paused atomic.Bool
	// toldNewer means that the log has a warning about values of a newer braid.
	toldNewer atomic.Bool
	looked    uint64          // revision of the last board; used by the goroutine of keepDelivered
	pacer     *Pacer          // nil if it takes no jobs
	open      context.Context // ends with Close
	stop      context.CancelFunc
	running   sync.WaitGroup

	mu   sync.Mutex
	mine map[string]*Claim // by key; nil for a job about to be taken
	back chan struct{}     // closed on a new connection or a new queue
	// made is when the queue was created, lives how often it was created again since Open, and toldLost whether that
	// was logged.
	made     time.Time
	lives    int
	toldLost bool
	// yielded is when this process yielded the lead of each group.
	yielded map[string]time.Time
}

const (
	streamName   = "BRAID_JOBS"
	subject      = "braid.jobs"
	subjectAsk   = "braid.ask" // workers answer with a fleet.Worker
	consumerName = "workers"
	keyPaused    = "paused"
	keyClock     = "clock"
	// duplicates is how long the stream remembers an id. The records remember it forever.
	duplicates = 2 * time.Minute
	// paceTime is how long the pace of a host is stored. A pause is an hour at most.
	paceTime = 2 * time.Hour
	// oneCall is how long one request may take.
	oneCall = 5 * time.Second
	// openTime is how long servers may take to agree on the existing state.
	openTime = 30 * time.Second
)

// An InsecureError reports a URL that would send data over the network unencrypted.
type InsecureError struct{ Host string }

func (e *InsecureError) Error() string {
	return e.Host + " is another machine, and all would go over the network for all to read"
}

// CheckURL returns an error for a malformed URL of a queue, and for nats:// to another machine.
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

// Open connects to a queue and creates missing parts. Refused, Untrusted and Lacking classify its errors. The queue is
// open until Close, also after ctx ends.
func Open(ctx context.Context, o Options) (*Queue, error) {
	q := &Queue{
		name: o.Name, lease: o.Lease, works: o.Works, there: o.There, here: o.Host != nil && o.clock == nil, log: o.Log,
		mine: map[string]*Claim{}, back: make(chan struct{}), yielded: map[string]time.Time{},
	}
	if q.clock = o.clock; q.clock == nil {
		q.clock = time.Now
	}
	if q.lease == 0 {
		q.lease = fleet.UsualLease
	}
	if q.log == nil {
		q.log = slog.New(slog.DiscardHandler)
	}
	if err := q.connect(ctx, o); err != nil {
		return nil, err
	}
	q.open, q.stop = context.WithCancel(context.WithoutCancel(ctx))
	back := another(q)
	first, end := context.WithTimeout(ctx, openTime)
	defer end()
	err := q.prepare(first)
	q.there = false // if lost from now on, it is created again
	if err == nil {
		q.made, err = madeAt(first, q)
	}
	if err == nil {
		err = q.readPaused(first)
	}
	if err == nil && q.works {
		q.mu.Lock()
		q.pulls, err = newPulls(q.conn, q.clustered())
		q.mu.Unlock()
	}
	if err != nil {
		q.Close()
		return nil, cmp.Or(ctx.Err(), err)
	}
	if q.works {
		if _, err := q.conn.Subscribe(subjectAsk, q.answer); err != nil {
			q.Close()
			return nil, err
		}
		q.running.Go(func() { q.keepDelivered(q.open) })
	}
	if !q.here {
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
			q.mu.Lock()
			defer q.mu.Unlock()
			close(q.back)
			q.back = make(chan struct{})
			if q.pulls != nil {
				q.pulls.renew()
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrPermissionViolation) && !forbidden.Swap(true) { // it comes with each message
				q.log.Warn("queue", "error", err)
			}
			q.log.Debug("queue", "error", err)
		}),
	}
	at := o.URL
	if o.Host != nil {
		if err := o.Host.ready(ctx); err != nil {
			return err
		}
		at = nats.DefaultURL // not dialed
		options = append(options, nats.SetCustomDialer(o.Host), nats.IgnoreDiscoveredServers())
	} else {
		if err := CheckURL(o.URL); err != nil {
			return err
		}
		if strings.Contains(o.URL, "nats://") {
			options = append(options, nats.IgnoreDiscoveredServers()) // they may be on other machines
		}
		if o.Credentials != "" {
			options = append(options, nats.UserCredentials(o.Credentials))
		}
		if o.TLS != nil {
			options = append(options, nats.Secure(o.TLS))
		}
	}
	for late := time.Now().Add(openTime); ; {
		if q.conn, err = nats.Connect(at, options...); err == nil {
			break
		}
		// The process that runs the server may have just ended; another one then starts it.
		if o.Host == nil || time.Now().After(late) || rest(ctx, lookEvery) != nil {
			return fmt.Errorf("no connection: %w", err)
		}
	}
	q.js, err = jetstream.New(q.conn, jetstream.WithDefaultTimeout(oneCall))
	return err
}

// prepare creates missing streams and buckets. A cluster that has just started, or lost a server, needs a moment.
func (q *Queue) prepare(ctx context.Context) (err error) {
	replicas := 1
	if q.clustered() {
		replicas = 3
	}
	for {
		once, stop := context.WithTimeout(ctx, 2*oneCall)
		if err = q.make(once, replicas); err == nil && !q.here {
			err = q.setClock(once)
		}
		stop()
		if errors.Is(err, nats.ErrNoResponders) && !q.here && !q.clustered() { // a single server is ready when it listens
			err = jetstream.ErrJetStreamNotEnabled
		}
		if err == nil || Refused(err) || Lacking(err) || Missing(err) || rest(ctx, 500*time.Millisecond) != nil {
			return err
		}
	}
}

// clustered reports whether the server is part of a cluster.
func (q *Queue) clustered() bool { return q.conn.ConnectedClusterName() != "" }

func (q *Queue) make(ctx context.Context, replicas int) error {
	err := q.makeStream(ctx, replicas)
	if err == nil && q.works {
		err = q.makeConsumers(ctx)
	}
	if err != nil {
		return err
	}
	for name, bucket := range map[string]*jetstream.KeyValue{"jobs": &q.jobs, "leases": &q.leases, "pace": &q.pace,
		"feeds": &q.feeds} {
		if *bucket, err = q.bucket(ctx, "braid_"+name, replicas); err != nil {
			return err
		}
	}
	if replicas > 1 {
		q.jobs, err = newSure(ctx, q.js, q.jobs)
	}
	return err
}

// makeStream creates the stream. It adds the subjects of priorities to a stream from before them.
func (q *Queue) makeStream(ctx context.Context, replicas int) error {
	var subjects []string
	for _, p := range fleet.Priorities {
		subjects = append(subjects, nameFor(subject, ".", p))
	}
	stream, err := q.js.Stream(ctx, streamName)
	if errors.Is(err, jetstream.ErrStreamNotFound) && q.there {
		err = errMissing
	} else if errors.Is(err, jetstream.ErrStreamNotFound) {
		_, err = q.js.CreateStream(ctx, jetstream.StreamConfig{
			Name: streamName, Subjects: subjects, Retention: jetstream.WorkQueuePolicy, Duplicates: duplicates,
			Replicas: replicas,
		})
	} else if err == nil && len(stream.CachedInfo().Config.Subjects) < len(subjects) {
		c := stream.CachedInfo().Config
		c.Subjects = subjects
		_, err = q.js.UpdateStream(ctx, c)
	}
	return err
}

// makeConsumers creates the consumer of each priority.
func (q *Queue) makeConsumers(ctx context.Context) error {
	for _, p := range []fleet.Priority{fleet.Normal, fleet.High, fleet.Low} { // Normal's consumer had all messages before
		if _, err := q.js.CreateOrUpdateConsumer(ctx, streamName, jetstream.ConsumerConfig{
			Durable: nameFor(consumerName, "-", p), FilterSubject: nameFor(subject, ".", p),
			AckPolicy: jetstream.AckExplicitPolicy, AckWait: q.lease,
			MaxDeliver: -1, MaxAckPending: -1,
		}); err != nil {
			return err
		}
	}
	return nil
}

func (q *Queue) bucket(ctx context.Context, name string, replicas int) (jetstream.KeyValue, error) {
	b, err := q.js.KeyValue(ctx, name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		c := jetstream.KeyValueConfig{Bucket: name, Replicas: replicas}
		if name == "braid_pace" {
			c.TTL = paceTime
		}
		b, err = q.js.CreateKeyValue(ctx, c)
	}
	return b, err
}

// Close ends the connection.
func (q *Queue) Close() {
	if q.stop != nil {
		q.stop()
	}
	q.running.Wait()
	q.conn.Close()
}

// now returns the time by the clock of the queue.
func (q *Queue) now() time.Time { return q.at(q.clock()) }

// at converts a time of this machine to the clock of the queue.
func (q *Queue) at(t time.Time) time.Time { return t.Add(time.Duration(q.offset.Load())) }

// setClock measures the offset of the server's clock, which sets the time of a stored value.
func (q *Queue) setClock(ctx context.Context) error {
	began := q.clock()
	if _, err := q.leases.Put(ctx, keyClock, nil); err != nil {
		return err
	}
	middle := began.Add(q.clock().Sub(began) / 2)
	e, err := q.leases.Get(ctx, keyClock)
	if err == nil {
		q.offset.Store(int64(e.Created().Sub(middle)))
	}
	return err
}

// keepClock checks the queue and measures the offset every minute, because one of several servers may be lost while the
// connection stays.
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
				err = q.setClock(ctx)
			}
			if err != nil && ctx.Err() == nil {
				q.log.Debug("queue", "clock", "unknown", "error", err)
			}
		}
	}
}
