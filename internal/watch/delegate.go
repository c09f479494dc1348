package watch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"braid/antenna"
	"braid/daemon"
	"braid/daemon/queue"
	"braid/download"
	"braid/internal/job"
	"braid/internal/problem"
	"braid/internal/web"
)

// A Delegate hands the downloads of a watcher to a daemon. Each version of a file that a watch wants is an
// entry of the queue. The GID of the entry is derived from watch, URL and version, so that an update that is
// delivered again finds its entry. A nil Delegate watches nothing.
type Delegate struct {
	*service
	config *Loaded
	client *download.Client
	engine *daemon.Daemon
	pace   func(*Loaded) // sets the limits of hosts, unless the daemon has limits of its own
	// isReserved reports whether path leads to a file or folder that the daemon depends on.
	isReserved func(path string) bool

	mu     sync.Mutex
	claims map[queue.GID]*handover
	came   chan struct{}        // closed when a claim is added
	latest map[string]queue.GID // the latest entry of each watch and URL
	over   chan struct{}        // closed when the engine ends
}

// A handover is an update that waits for its entry.
type handover struct {
	prepare func(end func(error)) (download.Request, error)
	tally   *web.Tally    // counts the requests of the download
	active  bool          // a download with the request of prepare is running
	left    bool          // the update no longer waits
	idle    chan struct{} // receives a value when that download has ended
	stopped chan stopped
}

// A stopped is an entry that has ended, and its result.
type stopped struct {
	queue.Entry
	res download.Result
	err error
}

const (
	// claimTime is how long an entry waits for its update. After askAfter, the watch of the entry is checked. Usually
	// the update comes sooner, because the antenna delivers unacknowledged updates again as soon as it runs.
	claimTime, askAfter = 20 * time.Second, time.Second
	// delegated limits the updates that are in the queue at once. The daemon runs only a few of these downloads at a
	// time.
	delegated = 1000
	// watchGrace is how long a program of a watch may continue after the daemon begins to stop, because the daemon must
	// exit within ten seconds.
	watchGrace = 3 * time.Second
)

// NewDelegate returns a delegate for the watches of c. No watch may name an object store. Downloads do not replace
// paths for which isReserved returns true. pace is called with each configuration.
func NewDelegate(c *Loaded, m *Metrics, isReserved func(path string) bool, pace func(*Loaded)) (*Delegate, error) {
	w := &Delegate{
		service: &service{Watcher: &Watcher{Metrics: m}}, config: c, pace: pace, isReserved: isReserved,
		claims: map[queue.GID]*handover{}, came: make(chan struct{}), latest: map[string]queue.GID{}, over: make(chan struct{}),
	}
	c.by = w
	for _, watched := range c.Watches {
		if watched.To != "" {
			return nil, problem.Misuse(c.File, "watch."+watched.Name+".to: must be a folder, because the daemon "+
				"saves the files of a watch on disk",
				"to put files into an object store, use braid watch "+c.File)
		}
	}
	return w, Check(c)
}

// KeepPace sets the limits of hosts to the limits in the configuration.
func (w *Delegate) KeepPace() { w.pace(w.config) }

// Close closes the store of the watcher.
func (w *Delegate) Close() error { return w.store.Close() }

// Typed returns the URLs of the configuration.
func (w *Delegate) Typed() []string {
	if w == nil {
		return nil
	}
	return w.config.typed()
}

// share returns the client of the daemon with the limits of c.
func (w *Delegate) share(c *Loaded, at *job.Sites) *download.Client {
	client := *w.client
	if own := at.Limits.Of(c.Rate); own != nil {
		client.Limit = own.Within(client.Limit)
	}
	if c.Size > 0 && (client.MaxSize == 0 || c.Size < client.MaxSize) {
		client.MaxSize = c.Size
	}
	return &client
}

// Own returns the files and folders that the watcher depends on, and the files that its programs may run.
func (w *Delegate) Own() []string {
	if s := w.current.Load(); s != nil {
		return append(ownOfWatcher(s.of, s.sites), scripts(s.of)...)
	}
	return append(ownOfWatcher(w.config, nil), scripts(w.config)...)
}

// take makes the daemon do the downloads of s.
func (w *Delegate) take(c *Loaded, s *setup) {
	const programs = 4 // the antenna's default of Handlers
	s.updater.Get, s.updater.Grace, s.updater.Programs = w.get, watchGrace, cmp.Or(c.Parallel, programs)
	s.antenna.Handlers = delegated
	if c.UserAgent == "" {
		return
	}
	for _, r := range s.updater.Rules { // the client sends the User-Agent of the daemon
		if http.Header(r.Request.Access.Header).Get("User-Agent") == "" {
			header := http.Header(r.Request.Access.Header).Clone()
			if header == nil {
				header = http.Header{}
			}
			header.Set("User-Agent", c.UserAgent)
			r.Request.Access.Header = header
		}
	}
}

// Open opens the store of the watcher, and applies the configuration.
func (w *Delegate) Open(log *ServiceLog, engine *daemon.Daemon, client *download.Client) error {
	w.engine, w.client, w.log = engine, client, log
	if err := os.MkdirAll(w.config.Folder, 0o700); err != nil {
		return problem.Local("watch", w.config.Folder, err).
			WithHint("set state = in " + w.config.File + " to a folder in which the daemon may write")
	}
	var err error
	if w.store, err = antenna.OpenStore(filepath.Join(w.config.Folder, storeFile)); err != nil {
		return storeFailure(err)
	}
	if err := w.use(w.config); err != nil {
		return errors.Join(err, w.store.Close())
	}
	return nil
}

// Run watches until ctx is done.
func (w *Delegate) Run(ctx context.Context) error {
	if w == nil {
		<-ctx.Done()
		return nil
	}
	defer func() { w.current.Load().close() }()
	err := w.engine.Do(ctx, func(q *queue.Queue) error {
		for _, list := range [][]queue.Entry{q.Stopped(0, queue.MostStopped*2), q.Waiting(0, 1<<30), q.Active()} {
			for _, e := range list {
				if e.Watch != "" {
					w.latest[fileOf(&e)] = e.GID
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil // the daemon is ending, and the engine reports the reason
	}
	return w.serve(ctx, w.config)
}

// want makes the named watch of w download again the versions whose entries the user removed from the queue.
func want(ctx context.Context, w *Delegate, name string) error {
	return w.engine.Do(ctx, func(q *queue.Queue) (failed error) {
		for _, e := range q.Stopped(0, queue.MostStopped*2) {
			if e.Watch == name && e.Status == queue.Removed {
				failed = errors.Join(failed, q.Forget(e.GID))
			}
		}
		return failed
	})
}

// End records that the engine has ended.
func (w *Delegate) End() {
	if w != nil {
		close(w.over)
	}
}

// gidOf returns the GID of the entry of an update. Its first half is a hash of file and version, and its second half a
// hash of the file. The hash with the version comes first because people and clients identify an entry by the first
// digits.
func gidOf(u *antenna.Update) queue.GID {
	r := &u.Record
	version := fmt.Sprint(r.LastModified, " ", r.Size, " ", r.MD5)
	if r.LastModified == 0 && r.MD5 == "" {
		version = fmt.Sprint(version, " ", cmp.Or(r.Detected, r.Received))
	}
	half := func(text string) uint64 {
		sum := sha256.Sum256([]byte(text))
		return uint64(binary.BigEndian.Uint32(sum[:]))
	}
	file := u.Watch + "\x00" + u.URL
	return queue.GID(max(half(file+"\x00"+version)<<32|half(file), 1))
}

// fileOf returns a key for the file of an entry. All versions of the file have the same key.
func fileOf(e *queue.Entry) string {
	return fmt.Sprintf("%s %q %08x", e.Watch, e.URIs, uint32(e.GID))
}

// get adds the entry of an update to the queue and waits until the entry has ended. get is a Getter.
func (w *Delegate) get(
	ctx context.Context, u antenna.Update, prepare func(end func(error)) (download.Request, error),
) (res download.Result, err error) {
	c := &handover{prepare: prepare, tally: web.TallyOf(ctx), idle: make(chan struct{}, 1), stopped: make(chan stopped, 1)}
	e := queue.Entry{GID: gidOf(&u), URIs: []string{job.MaskWord(u.URL)}, Watch: u.Watch}
	e.Tentative = u.Release != nil && !u.LastTry
	if r := w.current.Load().updater.Rules[u.Watch]; r != nil {
		e.Priority = map[Priority]int{"high": 1, "low": -1}[r.Watch.Priority]
		if x, err := r.Report(u); err == nil {
			e.Path = filepath.Join(r.Dir, filepath.FromSlash(x.Name))
		}
	}
	if err := w.engine.Do(ctx, func(q *queue.Queue) error { return w.enter(q, &u, e, c) }); err != nil {
		return res, w.interrupted(ctx, &e, err)
	}
	defer w.leave(e.GID, c)
	select {
	case s := <-c.stopped:
		switch {
		case s.Status == queue.Removed:
			return s.res, ErrDeclined
		case s.Status == queue.Failed && s.err == nil:
			return s.res, errors.New(s.Outcome.Message)
		}
		return s.res, s.err
	case <-ctx.Done():
		return res, w.interrupted(ctx, &e, ctx.Err())
	}
}

// interrupted returns the error of an update: if ctx is done, an error of the kind Interrupted, else err.
func (w *Delegate) interrupted(ctx context.Context, e *queue.Entry, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return &download.Error{Kind: download.Interrupted, What: "download", Where: e.URIs[0], Err: err}
}

// enter adds the entry of an update to the queue, unless the queue has the entry. It removes the entry of an older
// version that was not completed. It is called in the engine's loop.
func (w *Delegate) enter(q *queue.Queue, u *antenna.Update, e queue.Entry, c *handover) error {
	now := time.Now()
	switch old, there := q.Entry(e.GID); {
	case there && old.Watch != e.Watch: // clients may choose GIDs
		return fmt.Errorf("the GID %s of this watch's download belongs to another download: remove the other one", e.GID)
	case there && old.Status == queue.Removed && u.Reason != antenna.AskedFor:
		// The entry was removed before the update was acknowledged.
		c.stopped <- stopped{Entry: old}
		return nil
	case there && old.Status < queue.Complete:
	default:
		if there {
			if err := drop(q, now, old); err != nil {
				return err
			}
			e.Options = old.Options
		}
		if _, err := q.Add(now, e, -1); err != nil {
			return err
		}
	}
	if old, there := q.Entry(w.latest[fileOf(&e)]); there && old.GID != e.GID && old.Status != queue.Complete {
		if err := drop(q, now, old); err != nil {
			return err
		}
	}
	w.latest[fileOf(&e)] = e.GID
	w.mu.Lock()
	defer w.mu.Unlock()
	w.claims[e.GID] = c
	close(w.came)
	w.came = make(chan struct{})
	return nil
}

// drop removes an entry, which may be active.
func drop(q *queue.Queue, now time.Time, e queue.Entry) error {
	if e.Status < queue.Complete {
		if err := q.Remove(now, e.GID); err != nil {
			return err
		}
	}
	return q.Forget(e.GID)
}

// leave removes the claim of an update. It first stops a download that is running for the update. The download starts
// again when the update is delivered again.
func (w *Delegate) leave(g queue.GID, c *handover) {
	w.mu.Lock()
	c.left = true
	active := c.active
	w.mu.Unlock()
	if active {
		w.engine.Do(context.Background(), func(q *queue.Queue) error { // fails if the engine has ended
			q.Restart(g)
			return nil
		})
		select {
		case <-c.idle:
		case <-w.over:
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.claims[g] == c {
		delete(w.claims, g)
	}
}

// Stopped receives entries whose downloads have ended.
func (w *Delegate) Stopped(e queue.Entry, res download.Result, err error) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.claims[e.GID]
	if c == nil {
		return
	}
	if c.active {
		c.active = false
		select {
		case c.idle <- struct{}{}:
		default:
		}
	}
	if e.Status >= queue.Complete {
		select {
		case c.stopped <- stopped{e, res, err}:
		default:
		}
	}
}

// Request returns the request for an entry. If the update of the entry was not delivered yet, Request waits for it.
func (w *Delegate) Request(ctx context.Context, e queue.Entry) (download.Request, error) {
	unknown := &problem.Problem{What: "watch " + e.Watch, Where: e.URIs[0], Why: "this version is no longer requested"}
	unknown.Hint = "check the current version with braid watch run"
	if w == nil {
		return download.Request{}, unknown
	}
	ask, late := time.NewTimer(askAfter), time.NewTimer(claimTime)
	defer ask.Stop()
	defer late.Stop()
	for {
		w.mu.Lock()
		c, came := w.claims[e.GID], w.came
		if c != nil && !c.left {
			c.active = true
			select {
			case <-c.idle: // of an earlier attempt
			default:
			}
			w.mu.Unlock()
			web.TallyOf(ctx).Within(c.tally)
			return c.prepare(func(err error) { daemon.Fail(ctx, err) })
		}
		w.mu.Unlock()
		// A watch that was changed by a reload or restart no longer delivers the update.
		if r := w.current.Load().updater.Rules[e.Watch]; r == nil || !r.Many() && job.MaskWord(r.URL) != e.URIs[0] {
			return download.Request{}, unknown
		}
		select {
		case <-came:
		case <-ask.C:
			w.current.Load().antenna.RunNow(ctx, e.Watch) // fails while the watcher starts
		case <-late.C:
			return download.Request{}, unknown
		case <-ctx.Done():
			return download.Request{}, ctx.Err()
		}
	}
}
