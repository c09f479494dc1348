// Package daemon downloads the entries of a queue and keeps the queue on disk. An accepted entry is neither lost nor
// downloaded twice, even if the process is killed at any time.
//
//	d, err := daemon.Open(daemon.Config{Dir: stateFolder, Request: makeRequest})
//	...
//	go d.Run(ctx)
//	err = d.Do(ctx, func(q *queue.Queue) error { // the change is on disk when Do returns
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
	// Dir is the folder of the store. It must exist. Only one process at a time can open the store.
	Dir string
	// Request returns the download request for e. It is called in the download's goroutine. The daemon sets Detail, Due
	// and the limits of the request. A rate limit that Request set still applies, together with the limit in the
	// options of e. To end the download, call [Fail] with the context of the request.
	Request func(ctx context.Context, e queue.Entry) (download.Request, error)
	// Jobs, if not nil, receives the entries as jobs for other processes, instead of downloads in this process.
	// Request, Client, AtOnce, Limit and Stopped are then ignored.
	Jobs Jobs
	// Client downloads the files. If nil, the zero Client is used.
	Client *download.Client
	// AtOnce is the number of concurrent downloads, unless the queue has the option OptionAtOnce. If zero, the daemon
	// measures which number is best.
	AtOnce int
	// Limit is called with the value of the queue's option OptionGlobalLimit. bytes is the limit of all downloads
	// together, per second; said reports whether the option is set. If nil, the daemon sets the Limit of the Client.
	Limit func(bytes int64, said bool)
	// Stopped is called for each entry with a Watch after its download has ended. If e will be downloaded again, it is
	// called immediately. If e is complete, failed or removed, it is called after the store has that state, even if no
	// download had begun. For Stopped, an early entry is failed. It may be called more than once for e, and for an
	// entry without a Watch that is no longer in the queue. It must not block, and may be nil.
	Stopped func(e queue.Entry, res download.Result, err error)
	// Hide removes secrets from the text of an error before it is stored. If nil, nothing is removed.
	Hide func(string) string
	// Empty discards the stored entries and options. Files and partial files stay.
	Empty bool
	// Last, if not nil, is called at the end of Run, in the goroutine that owns the queue, also if the store fails. A
	// download that did not stop in time is still active.
	Last func(q *queue.Queue)
	// Log receives warnings and errors. If nil, slog.Default is used.
	Log *slog.Logger
}

// A Daemon owns a queue and downloads its entries. Open returns one.
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
	news    chan queue.GID // entries with a download state that the loop should read immediately
	changed chan struct{}  // receives when entries have changed; has a capacity of one
	over    chan struct{}  // closed when the loop returns
	crowded atomic.Bool    // an entry waits until a download can begin

	subs     subscribers
	pictures pictures
}

// ErrEnded is the error of calls to a daemon after its Run has returned.
var ErrEnded = errors.New("the daemon has stopped")

// Open opens the store and returns a daemon with the stored queue. No download begins before Run. A damaged store is
// moved aside and logged; the queue is then empty.
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
	if c.Last == nil {
		d.config.Last = func(*queue.Queue) {}
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

// forget deletes all entries from the store, and the remaining journals of files that were complete.
func (d *Daemon) forget() error {
	for _, e := range d.store.entries {
		if e.Outcome.Due {
			d.clear(e.Path)
		}
	}
	return d.store.empty()
}

// Close closes a daemon if its Run was never called.
func (d *Daemon) Close() error { return d.store.db.Close() }

// leastAtOnce is the minimum number of concurrent downloads while the daemon measures the number. With fewer, downloads
// from a slow host would delay all others.
const leastAtOnce = 4

// Run downloads until ctx is done. It then stops the running downloads within ten seconds, so that they continue at the
// next start, and closes the daemon. Run must be called only once.
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

// endKey is the context key of the function that cancels the context of a download.
type endKey struct{}

// Fail ends the download of the request that was made with ctx. The download fails with err.
func Fail(ctx context.Context, err error) {
	if end, ok := ctx.Value(endKey{}).(context.CancelCauseFunc); ok {
		end(&failed{err})
	}
}

// A failed is the cause of a context that Fail canceled. It holds the error given to Fail.
type failed struct{ error }

// seed returns a random seed for the GIDs.
func seed() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.BigEndian.Uint64(b[:])
}

// A call is a function that the loop is to run.
type call struct {
	do   func(q *queue.Queue) error
	done chan error // has a capacity of one
}

// Do calls do in the goroutine that owns the queue. do must not keep q. When Do returns, the changes that do made are
// on disk, even if do returned an error, unless the store failed. Several calls may share a transaction. If ctx is done
// before do is called, do is not called.
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

// Subscribe returns a channel of future notices, and a function that ends the subscription. The channel is closed when
// the daemon ends, and when too many notices are unread. The receiver should then read the whole queue again.
func (d *Daemon) Subscribe() (<-chan queue.Notice, func()) { return d.subs.add() }

// mostNotices is the maximum number of unread notices of a subscriber.
const mostNotices = 4096

// A subscribers delivers notices to subscribers. Its methods may be called from any goroutine.
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
