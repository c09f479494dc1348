// Package jetstream keeps the records of a fleet in NATS JetStream: a stream that wakes workers, and values that are
// changed only by those that have seen the last change. What a record may become is decided by package fleet.
//
//	q, err := jetstream.Open(ctx, jetstream.Options{URL: "nats://127.0.0.1:4222", Name: "worker 1"})
//	news, err := q.Report(ctx, fleet.Job{Name: "disk.iso", URIs: []string{"https://example.org/disk.iso"}})
//	claim, err := q.Next(ctx)            // waits for a job, and has it
//	err = claim.Finish(ctx, fleet.Ending{Kind: fleet.Right})
//
// A message has the key of a record and nothing else: one that comes twice, late or too early does no harm. One of each
// record that is queued, running or waiting is there until its end is stored.
//
// [Host] runs a server in this process, for the processes of one machine. It refuses to serve others: for them there is
// nats-server.
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

// Options say where a queue is.
type Options struct {
	// URL is nats://HOST:PORT, which must be on this machine, or tls://HOST:PORT; several are separated by commas.
	URL string
	// Name tells this process from all others of the queue.
	Name string
	// Credentials is the path of a file with credentials of NATS. If empty, there are none.
	Credentials string
	// TLS is for tls:// URLs. If nil, the roots of the system count.
	TLS *tls.Config
	// Lease is how long a job, or the lead, stays with this process after it was heard of last. If zero, it is fleet.UsualLease.
	Lease time.Duration
	// Works: the process takes jobs. The stream delivers a message again after its Lease; of several processes the last
	// one's counts.
	Works bool
	// There: the queue is to be there already, and none is made.
	There bool
	// Host, if not nil, has the server; then URL, Credentials and TLS are not used.
	Host *Host
	// Log gets what goes wrong meanwhile. If nil, it is discarded.
	Log *slog.Logger

	clock func() time.Time // of this machine; nil: time.Now
}

// A Queue is a connection to a queue. Its methods may be called by several goroutines.
type Queue struct {
	name   string
	clock  func() time.Time
	lease  time.Duration
	works  bool
	there  bool // or an error
	here   bool // on this machine, with its clock
	log    *slog.Logger
	conn   *nats.Conn
	js     jetstream.JetStream
	jobs   jetstream.KeyValue
	leases jetstream.KeyValue
	pace   jetstream.KeyValue
	feeds  jetstream.KeyValue
	pulls  *pulls       // of one that takes jobs
	offset atomic.Int64 // of the server's clock to ours
	paused atomic.Bool
	// toldNewer: the log says that there are values of a newer braid.
	toldNewer atomic.Bool
	looked    uint64          // up to where a board was stored; of keepDelivered
	pacer     *Pacer          // nil: it takes no jobs
	open      context.Context // until it is closed
	stop      context.CancelFunc
	running   sync.WaitGroup

	mu   sync.Mutex
	mine map[string]*Claim // by key, the jobs that this process has, or is about to take (nil)
	back chan struct{}     // closed when there is another connection, or another queue
	// made is when the queue was made, lives how often it was made anew since Open, and toldLost says that the log has it.
	made     time.Time
	lives    int
	toldLost bool
	// yielded is when this process has yielded the lead of a group.
	yielded map[string]time.Time
}

const (
	streamName   = "BRAID_JOBS"
	subject      = "braid.jobs"
	subjectAsk   = "braid.ask" // what workers answer to with a fleet.Worker
	consumerName = "workers"
	keyPaused    = "paused"
	keyClock     = "clock"
	// duplicates is how long an id is remembered by the stream. The records remember it for ever.
	duplicates = 2 * time.Minute
	// paceTime is how long it is remembered what a host wants, which is an hour at most.
	paceTime = 2 * time.Hour
	// oneCall is how long one question may take.
	oneCall = 5 * time.Second
	// openTime is how long servers may take to agree on what is there.
	openTime = 30 * time.Second
)

// An InsecureError says that a URL would send everything over the network for all to read.
type InsecureError struct{ Host string }

func (e *InsecureError) Error() string {
	return e.Host + " is another machine, and all would go over the network for all to read"
}

// CheckURL refuses what is no URL of a queue, and nats:// to other machines.
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

// Open connects to a queue, and makes what is missing there. Refused, Untrusted and Lacking sort its errors. The queue
// outlives ctx, until Close.
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
	q.there = false // if it is lost from now on, it is made
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
	var forbidden atomic.Bool // something is, and the log says so
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
			if errors.Is(err, nats.ErrPermissionViolation) && !forbidden.Swap(true) { // it would be told of each message
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
		at = nats.DefaultURL // which is only a name
		options = append(options, nats.SetCustomDialer(o.Host), nats.IgnoreDiscoveredServers())
	} else {
		if err := CheckURL(o.URL); err != nil {
			return err
		}
		if strings.Contains(o.URL, "nats://") {
			options = append(options, nats.IgnoreDiscoveredServers()) // they may be anywhere
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
		// The process that runs the server may have ended right now: another one does then.
		if o.Host == nil || time.Now().After(late) || rest(ctx, lookEvery) != nil {
			return fmt.Errorf("no connection: %w", err)
		}
	}
	q.js, err = jetstream.New(q.conn, jetstream.WithDefaultTimeout(oneCall))
	return err
}

// prepare makes the stream and the buckets, where they are missing. Servers of a cluster that has just begun, or lost
// one, need a moment.
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
		if errors.Is(err, nats.ErrNoResponders) && !q.here && !q.clustered() { // a server that is alone has all of it when it listens
			err = jetstream.ErrJetStreamNotEnabled
		}
		if err == nil || Refused(err) || Lacking(err) || Missing(err) || rest(ctx, 500*time.Millisecond) != nil {
			return err
		}
	}
}

// clustered reports whether there are several servers.
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

// makeStream makes the stream. One of a queue without priorities gets the subjects of the others.
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

// makeConsumers makes what delivers the messages of each priority.
func (q *Queue) makeConsumers(ctx context.Context) error {
	for _, p := range []fleet.Priority{fleet.Normal, fleet.High, fleet.Low} { // the first was of all before
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

// now is the time of the queue.
func (q *Queue) now() time.Time { return q.at(q.clock()) }

// at is a time of this machine by the clock of the queue.
func (q *Queue) at(t time.Time) time.Time { return t.Add(time.Duration(q.offset.Load())) }

// setClock measures how far the server's clock is from ours: it says when it stored a value.
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

// keepClock measures it again now and then, of the queue if that is still there: one of several servers may be lost
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
				err = q.setClock(ctx)
			}
			if err != nil && ctx.Err() == nil {
				q.log.Debug("queue", "clock", "unknown", "error", err)
			}
		}
	}
}
