package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"braid/antenna"
	"braid/download"
	"braid/internal/job"
	"braid/internal/listen"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/source"
)

// A Watcher has the parameters of watching.
type Watcher struct {
	Err     io.Writer // receives the log
	Metrics *Metrics
	Once    bool   // watch for one round only
	Fleet   *Fleet // updates become jobs of the fleet; nil: updates are downloaded
}

// A service is a running watcher.
type service struct {
	*Watcher
	log    *ServiceLog
	store  *antenna.Store
	notify Notifier
	tally  roundTally
	// polled records whether feeds are reached. unreached, with a buffer of one, gets a value when no feed is reached.
	// Both are for a fleet.
	polled    Reach
	unreached chan struct{}
	// current is the current setup, which each reload replaces.
	current atomic.Pointer[setup]
}

// storeFile and memoryFile are files in the state folder. copyFile exists there if the store is a copy of the state in
// a queue, or if a watcher that stands by will replace the store by such a copy.
const storeFile, memoryFile, copyFile = "antenna.db", "memory.json", "copy-of-queue"

// Watch watches until ctx is done or, if Once is set or names is not nil, for one round. If names is not empty, the
// round handles only the named feeds and watches. After a round, kinds has the kinds of the errors of watches that are
// not up to date.
func (w *Watcher) Watch(ctx context.Context, c *Loaded, names []string) (kinds []download.Kind, err error) {
	s := &service{
		Watcher: w, log: NewServiceLog(w.Err, c.Log.Format), notify: NotifierOf(os.Getenv),
		unreached: make(chan struct{}, 1),
	}
	s.log.rounds = w.Once || names != nil
	s.log.Configure(c)
	if err := Check(c); err != nil { // an invalid configuration creates no file
		return nil, err
	}
	if names != nil {
		if err := refuseCopy(c, "watch run"); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(c.Folder, 0o700); err != nil {
		return nil, problem.Local("watch", c.Folder, err)
	}
	store, err := antenna.OpenStore(filepath.Join(c.Folder, storeFile))
	if err != nil {
		return nil, storeFailure(err)
	}
	s.store = store
	if err = markStore(c.Folder, s.Fleet != nil); err == nil && s.Fleet != nil {
		err = s.adopt(ctx)
	}
	if err == nil {
		err = s.use(c)
	}
	if err == nil {
		kinds, err = s.work(ctx, c, names)
	}
	return kinds, errors.Join(err, store.Close())
}

// Check returns an error if the configuration, or a file that it names, is invalid.
func Check(c *Loaded) error {
	_, err := newSetup(c, nil, slog.New(slog.DiscardHandler))
	return err
}

// work watches with the current setup, and saves the state of the client meanwhile.
func (s *service) work(ctx context.Context, c *Loaded, names []string) ([]download.Kind, error) {
	defer func() { s.current.Load().close() }()
	var wg sync.WaitGroup
	defer wg.Wait()
	learning, stop := context.WithCancel(ctx)
	defer stop()
	wg.Go(func() { s.remember(learning) })
	if s.Once || names != nil {
		return s.round(ctx, names), nil
	}
	return nil, s.serve(ctx, c)
}

// RememberEvery is the interval at which learned speeds are saved.
const RememberEvery = time.Minute

// remember saves the state of the client every RememberEvery until ctx is done.
func (s *service) remember(ctx context.Context) {
	ticker := time.NewTicker(RememberEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.current.Load().client.State.Save()
		}
	}
}

// markStore records whether the store in folder is a copy of the state in a queue.
func markStore(folder string, isCopy bool) error {
	path := filepath.Join(folder, copyFile)
	var err error
	if isCopy {
		err = os.WriteFile(path, nil, 0o600)
	} else if err = os.Remove(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return problem.Local("watch", path, err)
	}
	return nil
}

func storeFailure(err error) error {
	p := &problem.Problem{Kind: download.Local, What: "watch", Where: "store", Why: strings.TrimPrefix(err.Error(), "store: ")}
	if e, ok := errors.AsType[*antenna.LockedError](err); ok {
		p.Why, p.Hint = e.Error(), "only one watcher can use a state folder; braid watch status shows the running one"
	}
	return p
}

// use makes a setup from c, which becomes the current setup.
func (s *service) use(c *Loaded) error {
	next, err := newSetup(c, s.store, s.log.Logger)
	if err != nil {
		return err
	}
	next.antenna.Observe = func(ev antenna.Event) {
		s.Metrics.Observe(ev)
		s.log.event(ev)
		s.tally.add(ev)
		if ev, ok := ev.(antenna.Withdrawn); ok {
			next.withdraw(&ev, s.log)
		}
		if s.Fleet != nil {
			s.reach(ev)
		}
	}
	if s.Fleet != nil {
		next.antenna.Handlers = delegated // handlers of releases wait for their jobs
	}
	s.log.Configure(c)
	if err := job.AdoptState(next.client.State, c.Folder); err != nil {
		s.log.Warn("state", "error", err)
	}
	for _, text := range c.Warnings() {
		s.log.Warn("configuration", "warning", text)
	}
	if text := next.sites.Settings.Warning(); text != "" {
		s.log.Warn("settings", "warning", text)
	}
	status, err := next.antenna.Status(context.Background())
	if err != nil {
		return &problem.Problem{Kind: download.Local, What: "watch", Where: "store", Why: err.Error()}
	}
	s.Metrics.Know(status)
	for _, w := range c.Watches {
		s.Metrics.Add(w.Name)
	}
	next.stop = next.sites.Limits.Follow()
	s.current.Store(next)
	return nil
}

// serve watches until ctx is done.
func (s *service) serve(ctx context.Context, c *Loaded) error {
	defer SpareMemory()()
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	socket, err := listen.Socket(c.Folder)
	if err != nil {
		return &problem.Problem{Kind: download.Local, What: "watch", Where: c.Folder, Why: listen.Reason(err)}
	}
	wg.Go(func() {
		if err := Serve(ctx, socket, s); err != nil {
			s.log.Error("control", "error", err)
		}
	})
	if s.Fleet == nil { // in a fleet, WatchFor serves metrics, also while standing by
		end, err := ServeMetrics(ctx, c.Metrics, s.Metrics, s.log.Logger)
		if err != nil {
			return err
		}
		defer end()
	}
	if s.Fleet != nil {
		wg.Go(func() { s.yield(ctx) })
	}
	// The watchdog is reset until serve returns: programs may take half a minute to end.
	beating, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	wg.Go(func() { s.pulse(beating) })
	return s.rounds(ctx, c, hup)
}

// rounds watches with c, and after each reload with the new configuration.
func (s *service) rounds(ctx context.Context, c *Loaded, hup <-chan os.Signal) error {
	s.ready(c)
	for {
		now := s.current.Load()
		run, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() {
			err := now.antenna.Watch(run, s.handler(now))
			if err == run.Err() { // run was cancelled
				err = nil
			}
			ended <- err
		}()
		next, err := s.await(c, ended, hup, ctx)
		stop()
		if next == nil {
			return err
		}
		if err := <-ended; err != nil {
			return &problem.Problem{Kind: download.Local, What: "watch", Where: "store", Why: err.Error()}
		}
		now.close()
		if err := s.use(next); err != nil { // await has checked the configuration, but a file may have changed since
			s.refuse(c, err)
			continue
		}
		c = next
		s.ready(c)
	}
}

// await blocks until the watching ends, or until a reload, whose configuration it returns.
func (s *service) await(c *Loaded, ended <-chan error, hup <-chan os.Signal, ctx context.Context) (next *Loaded, err error) {
	done := ctx.Done()
	for {
		select {
		case <-done:
			s.notified(s.notify.Stopping())
			s.log.Info("ending", "why", source.Escape(context.Cause(ctx).Error()))
			done = nil
		case err := <-ended:
			if err != nil {
				err = &problem.Problem{Kind: download.Local, What: "watch", Where: "store", Why: err.Error()}
			}
			return nil, err
		case <-hup:
			if ctx.Err() != nil {
				continue
			}
			if next := s.reload(c); next != nil {
				return next, nil
			}
		}
	}
}

// reload reads the configuration again. If the new configuration is invalid, reload reports it and returns nil.
func (s *service) reload(c *Loaded) *Loaded {
	s.notified(s.notify.Reloading())
	next, err := s.read(c)
	if err != nil {
		s.refuse(c, err)
		return nil
	}
	if next.Folder != c.Folder || next.Metrics != c.Metrics || next.Log.Format != c.Log.Format {
		s.log.Warn("changes to state, metrics and log-format take effect at the next start")
		next.Folder, next.Metrics, next.Log.Format = c.Folder, c.Metrics, c.Log.Format
	}
	if c.by != nil { // the client belongs to the daemon
		if c.by.pace(next); !slices.Equal(next.Hosts, c.Hosts) {
			s.log.Warn("changes to allow-hosts take effect at the next start")
			next.Hosts = c.Hosts
		}
	}
	return next
}

// read reads the configuration and the files that it names.
func (s *service) read(c *Loaded) (*Loaded, error) {
	if c.File == "" {
		return nil, problem.Misuse("", "there is no configuration file to read again", "")
	}
	next, err := c.Reread()
	if err != nil {
		return nil, err
	}
	next.by = c.by
	state := next.Folder
	next.Folder = c.Folder
	_, err = newSetup(next, s.store, s.log.Logger)
	next.Folder = state
	return next, err
}

// refuse reports that a new configuration is invalid and that c stays in use. It notifies the service manager with
// Ready, because sd_notify has no message for a failed reload.
func (s *service) refuse(c *Loaded, err error) {
	f := problem.Of(err)
	s.log.Error("the configuration is unchanged", "where", f.Where, "error", f.Why, "hint", f.Hint)
	s.notified(s.notify.Ready(s.log.Clean(c.watching() + ", as before, because the new configuration is wrong: " +
		f.Where + ": " + f.Why)))
}

// ready reports to the log and the service manager that the watcher is ready.
func (s *service) ready(c *Loaded) {
	s.log.Info(c.watching(), "state", c.Folder)
	s.notified(s.notify.Ready(c.watching()))
}

func (c *Loaded) watching() string {
	return fmt.Sprintf("watching %s by %s", option.Count(len(c.Feeds), "feed"), countWatches(len(c.Watches)))
}

func countWatches(n int) string {
	if n == 1 {
		return "1 watch"
	}
	return fmt.Sprintf("%d watches", n)
}

// notified logs an error of a notification.
func (s *service) notified(err error) {
	if err != nil {
		s.log.Warn("sd_notify", "error", err)
	}
}

// pulse resets the watchdog as long as the watcher answers. It does so four times in the watchdog's period,
// because an answer may be late.
func (s *service) pulse(ctx context.Context) {
	every := s.notify.Watchdog() / 4
	if every <= 0 {
		return
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		limit, cancel := context.WithTimeout(ctx, every)
		if _, err := s.Status(limit); err == nil {
			s.notified(s.notify.Alive())
		}
		cancel()
	}
}
