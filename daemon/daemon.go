// Package daemon downloads the entries of a queue and keeps the queue on disk. An accepted entry is neither lost nor
// downloaded twice, even if the process is killed at any time.
//
//	d, err := daemon.Open(daemon.Config{Dir: stateFolder, Request: makeRequest})
//	...
//	go d.Run(ctx)
//	err = d.Do(ctx, func(q *queue.Queue) error { // on disk when it returns
//		_, err := q.Add(time.Now(), queue.Entry{URIs: []string{"https://example.org/disk.iso"}}, -1)
//		return err
//	})
//
// One goroutine owns the [queue.Queue]. All downloads share one [download.Client], with its connections, its limit and
// its knowledge of hosts. The daemon chooses the next entry only when another download can begin. Config.Request
// interprets the options of an entry. The caller of [Daemon.Do] decides which options a client may set.
package daemon

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"braid/daemon/queue"
	"braid/download"
	"braid/download/limit"
)

// A Config configures a Daemon. Request is required, unless Jobs is set.
type Config struct {
	// Dir is the folder of the store. It must exist. Only one process can have the store open at a time.
	Dir string
	// Request returns the request of an entry. It is called in a goroutine of the download. The daemon sets Detail, Due
	// and Limit of the request. A Limit of the returned request also limits the entry, together with the limit of the
	// entry's options. [Fail], called with the request's context, ends the download.
	Request func(ctx context.Context, e queue.Entry) (download.Request, error)
	// Jobs, if not nil, gives the entries to other processes instead of downloading them here. The daemon then ignores
	// Request, Client, AtOnce, Limit and Stopped.
	Jobs Jobs
	// Client downloads. If nil, the zero Client is used.
	Client *download.Client
	// AtOnce is the number of downloads that run at once if the option OptionAtOnce of the queue does not set it. If
	// zero, the daemon measures the number.
	AtOnce int
	// Limit is called with the value of the queue's option OptionGlobalLimit, in bytes per second for all downloads
	// together; said reports whether the option is set. If nil, the daemon sets the Limit of the Client.
	Limit func(bytes int64, said bool)
	// Stopped is called for each entry with a Watch whose download has ended: at once if the entry will continue, and
	// otherwise after the store has the complete, failed or removed entry, even if no download had begun. It may be
	// called more than once for an entry and must not block. It may be nil.
	Stopped func(e queue.Entry, res download.Result, err error)
	// Hide removes secrets from the text of an error before it is stored. If nil, nothing is removed.
	Hide func(string) string
	// Empty discards the stored entries and options. Files and partial files stay.
	Empty bool
	// Last, if not nil, is called by the loop at the end of an orderly shutdown.
	Last func(q *queue.Queue)
	// Log receives warnings and errors. If nil, slog.Default is used.
	Log *slog.Logger
}

// A Daemon owns a queue and runs its downloads. Open returns one.
type Daemon struct {
	config  Config
	client  download.Client
	log     *slog.Logger
	store   *store
	calls   chan call
	jobs    chan download.Job
	spare   chan download.Job
	resize  chan int
	ended   chan ended
	news    chan queue.GID // entries with a state that the loop should read at once
	changed chan struct{}  // signals that entries changed; has room for one
	over    chan struct{}  // closed when the loop has ended
	crowded atomic.Bool    // an entry waits for a place

	subs     subscribers
	pictures pictures
}

// ErrEnded is returned by calls to a daemon that has ended.
var ErrEnded = errors.New("the daemon has stopped")

// Open opens the store. No download begins before Run. A damaged store is moved aside and logged, and the queue is then
// empty.
func Open(c Config) (*Daemon, error) {
	d := &Daemon{
		config: c, log: cmp.Or(c.Log, slog.Default()), calls: make(chan call), jobs: make(chan download.Job),
		spare: make(chan download.Job), resize: make(chan int),
		ended: make(chan ended), news: make(chan queue.GID), changed: make(chan struct{}, 1), over: make(chan struct{}),
	}
	if c.Client != nil {
		d.client = *c.Client
	}
	if d.client.Limit == nil {
		d.client.Limit = &limit.Limiter{}
	}
	if c.Limit == nil {
		d.config.Limit = func(n int64, _ bool) { d.client.Limit.Set(n) }
	}
	if c.Hide == nil {
		d.config.Hide = func(s string) string { return s }
	}
	var err error
	if d.store, err = openStore(c.Dir); err != nil {
		return nil, err
	}
	if lost := d.store.db.Lost; lost != nil {
		d.log.Error("the queue could not be read and starts empty", "error", lost, "aside", d.store.db.Aside)
	}
	if c.Empty {
		if err := d.forget(); err != nil {
			return nil, errors.Join(err, d.store.db.Close())
		}
	}
	return d, nil
}

// forget empties the store and removes the journals of complete files.
func (d *Daemon) forget() error {
	for _, e := range d.store.entries {
		if e.Outcome.Due {
			d.clear(e.Path)
		}
	}
	return d.store.empty()
}

// Close closes a daemon on which Run was never called.
func (d *Daemon) Close() error { return d.store.db.Close() }

// leastAtOnce is the least number of downloads that run at once if the daemon measures the number. With fewer,
// downloads from a slow host would keep all other downloads waiting.
const leastAtOnce = 4

// Run downloads until ctx ends. It then stops the running downloads within ten seconds, so that they continue at the
// next start. Run must be called only once. It closes the daemon.
func (d *Daemon) Run(ctx context.Context) error {
	l := newLoop(ctx, d)
	batch := download.Batch{AtOnce: l.atOnce, AtLeast: leastAtOnce, Spare: d.spare, Resize: d.resize,
		Ended: func(n int, _ download.Request, res download.Result, err error) {
			select {
			case d.ended <- ended{number: n, res: res, err: err}:
			case <-d.over:
			}
		}}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		if d.config.Jobs != nil {
			d.follow(ctx)
			return
		}
		d.client.GetEach(ctx, d.jobs, batch)
	}()
	err := l.run(ctx, stopped)
	close(d.over)
	d.subs.close()
	return errors.Join(err, d.store.db.Close())
}

// endKey is the context key of the function that ends a download.
type endKey struct{}

// Fail ends the download of the request that was made with ctx. The download's error is err.
func Fail(ctx context.Context, err error) {
	if end, ok := ctx.Value(endKey{}).(context.CancelCauseFunc); ok {
		end(&failed{err})
	}
}

// A failed is the cause of a context that Fail canceled.
type failed struct{ error }

// seed returns a random seed for the GIDs.
func seed() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.BigEndian.Uint64(b[:])
}

// A call is a function to run in the loop.
type call struct {
	do   func(q *queue.Queue) error
	done chan error // has room for one
}

// Do calls a function in the goroutine that owns the queue. The function must not keep the queue. Its changes are on
// disk when Do returns, even if the function returned an error, unless the store failed. Several calls may share a
// transaction. If ctx ends before the function is called, it is not called.
func (d *Daemon) Do(ctx context.Context, do func(q *queue.Queue) error) error {
	c := call{do, make(chan error, 1)}
	select {
	case d.calls <- c:
	case <-ctx.Done():
		return ctx.Err()
	case <-d.over:
		return ErrEnded
	}
	select {
	case err := <-c.done:
		return err
	case <-d.over:
	}
	select {
	case err := <-c.done: // the loop answered before it ended
		return err
	default:
		return ErrEnded
	}
}

// Subscribe returns a channel of future notices and a function that ends the subscription. The channel is closed when
// the daemon ends, and if the receiver is too slow. A slow receiver should then read the whole queue again.
func (d *Daemon) Subscribe() (<-chan queue.Notice, func()) { return d.subs.add() }

// mostNotices is the number of notices that a subscriber may leave unread.
const mostNotices = 4096

// A subscribers delivers notices. Any goroutine may add and remove a subscriber.
type subscribers struct {
	mu     sync.Mutex
	all    map[chan queue.Notice]bool
	closed bool
}

func (s *subscribers) add() (<-chan queue.Notice, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := make(chan queue.Notice, mostNotices)
	if s.closed {
		close(c)
		return c, func() {}
	}
	if s.all == nil {
		s.all = map[chan queue.Notice]bool{}
	}
	s.all[c] = true
	return c, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.drop(c)
	}
}

func (s *subscribers) drop(c chan queue.Notice) {
	if s.all[c] {
		delete(s.all, c)
		close(c)
	}
}

func (s *subscribers) tell(notices []queue.Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.all {
		for _, n := range notices {
			select {
			case c <- n:
				continue
			default:
			}
			s.drop(c)
			break
		}
	}
}

func (s *subscribers) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.all {
		s.drop(c)
	}
}
