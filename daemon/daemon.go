// Package daemon downloads what stands in a queue, and keeps the queue on disk: what was accepted is neither lost nor
// downloaded twice, whenever the process is killed.
//
//	d, err := daemon.Open(daemon.Config{Dir: stateFolder, Request: makeRequest})
//	...
//	go d.Run(ctx)
//	err = d.Do(ctx, func(q *queue.Queue) error { // on disk when it returns
//		_, err := q.Add(time.Now(), queue.Entry{URIs: []string{"https://example.org/disk.iso"}}, -1)
//		return err
//	})
//
// One goroutine owns the [queue.Queue]. All downloads share one [download.Client]: its connections, its limit and what
// it knows of hosts. The order is decided when there is room for another download, and not before. What an entry's
// options mean is decided where the request is made; what a client may ask for, in front of [Daemon.Do].
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
)

// A Config says what a Daemon works with. Request must be there.
type Config struct {
	// Dir is the folder of the store, which must exist. One process has the store open at a time.
	Dir string
	// Request makes the request of an entry, in a goroutine of the download. What becomes of its Detail, Due and Limit is the
	// daemon's: a Limit that is set is one that the entry's own lies within. With its context, Fail ends the download.
	Request func(ctx context.Context, e queue.Entry) (download.Request, error)
	// Jobs, if not nil, are done by other processes in place of downloads here. Then Request, Client, AtOnce, Limit and
	// Stopped count for nothing.
	Jobs Jobs
	// Client downloads. If nil, it is the zero Client.
	Client *download.Client
	// AtOnce is how many downloads run at a time where the queue has no option for it (OptionAtOnce). If zero, it is measured.
	AtOnce int
	// Limit is told what the queue's option (OptionGlobalLimit) says of the bytes a second of all downloads, and that
	// none says anything. If nil, the Limit of the Client is set to it.
	Limit func(bytes int64, said bool)
	// Stopped is told of each entry with a Watch whose download has ended: at once if it is to go on, else once it is
	// on disk that it is complete, has failed or was removed, also if it never began. It may be told more than once,
	// and must not block. It may be nil.
	Stopped func(e queue.Entry, res download.Result, err error)
	// Hide takes secrets out of what is kept of an error. If nil, nothing is taken out.
	Hide func(string) string
	// Empty begins without the entries and options of an earlier start. Files and parts of files stay.
	Empty bool
	// Last is called in the loop as the last thing of an orderly end, if it is not nil.
	Last func(q *queue.Queue)
	// Log gets what is worth telling. If nil, it is slog.Default.
	Log *slog.Logger
}

// A Daemon is a queue and the downloads that are at work for it. Open makes one.
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
	news    chan queue.GID // something about a download that should be known at once
	changed chan struct{}  // told of entries that changed; has room for one
	over    chan struct{}  // closed when nothing is done any more
	crowded atomic.Bool    // an entry waits for a place

	subs     subscribers
	pictures pictures
}

// ErrEnded is the error of what is asked of a daemon that has ended.
var ErrEnded = errors.New("the daemon has ended")

// Open reads the store. Nothing is downloaded before Run. A store that is damaged is set aside, which the log tells.
func Open(c Config) (*Daemon, error) {
	d := &Daemon{
		config: c, log: cmp.Or(c.Log, slog.Default()), calls: make(chan call), jobs: make(chan download.Job), spare: make(chan download.Job), resize: make(chan int),
		ended: make(chan ended), news: make(chan queue.GID), changed: make(chan struct{}, 1), over: make(chan struct{}),
	}
	if c.Client != nil {
		d.client = *c.Client
	}
	if d.client.Limit == nil {
		d.client.Limit = &download.Limiter{}
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
		d.log.Error("the queue could not be read, and begins anew", "error", lost, "aside", d.store.db.Aside)
	}
	if c.Empty {
		if err := d.forget(); err != nil {
			return nil, errors.Join(err, d.store.db.Close())
		}
	}
	return d, nil
}

// forget empties the store, and removes the journals of files that are in place.
func (d *Daemon) forget() error {
	for _, e := range d.store.entries {
		if e.Outcome.Due {
			d.clear(e.Path)
		}
	}
	return d.store.empty()
}

// Close closes a daemon that was never run.
func (d *Daemon) Close() error { return d.store.db.Close() }

// leastAtOnce is how many downloads run at once where that is measured, if so many wait: behind one of a slow host no
// other one does.
const leastAtOnce = 4

// Run downloads until ctx ends. What is at work then is parked, within ten seconds, and goes on at the next start. It
// is called once, and closes the daemon.
func (d *Daemon) Run(ctx context.Context) error {
	l := newLoop(ctx, d)
	batch := download.Batch{AtOnce: l.atOnce, AtLeast: leastAtOnce, Spare: d.spare, Resize: d.resize, Ended: func(n int, _ download.Request, res download.Result, err error) {
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

// endKey is the key of the function that ends a download, in the context of its request.
type endKey struct{}

// Fail ends the download whose request was made with ctx. The error is that of the download.
func Fail(ctx context.Context, err error) {
	if end, ok := ctx.Value(endKey{}).(context.CancelCauseFunc); ok {
		end(&failed{err})
	}
}

// A failed is the cause of a context that Fail ended.
type failed struct{ error }

// seed is where the GIDs of a start come from.
func seed() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.BigEndian.Uint64(b[:])
}

// A call is a function that is to be run in the loop.
type call struct {
	do   func(q *queue.Queue) error
	done chan error // has room for one
}

// Do calls a function with the queue, which must not be used afterwards. What it changed is on disk when Do returns; an
// error of the function changes nothing of that. Others may share the transaction. When ctx ends before the function's
// turn, it is not called.
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
	case err := <-c.done: // the last thing that was done
		return err
	default:
		return ErrEnded
	}
}

// Subscribe returns a channel of what happens from now on. It is closed when its receiver is too slow, so that it can ask for
// everything anew, and at the end of the daemon. The function ends it.
func (d *Daemon) Subscribe() (<-chan queue.Notice, func()) { return d.subs.add() }

// mostNotices is how many a subscriber may be behind.
const mostNotices = 4096

// subscribers get notices. They may be added and removed by any goroutine.
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
