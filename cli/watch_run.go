package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"braid/antenna"
	"braid/download"
	"braid/internal/job"
	"braid/internal/problem"
	"braid/internal/watch"
	"braid/source"
)

// A service is a watcher that runs.
type service struct {
	*watchCommand
	log     *watchLog
	store   *antenna.Store
	metrics *watch.Metrics
	notify  watch.Notifier
	tally   roundTally
	// polled judges whether feeds are reached, and unreached has room for one word that they are not. Both are for a fleet.
	polled    watch.Reach
	unreached chan struct{}
	// current is the setup at work. It is another one after each reload.
	current atomic.Pointer[setup]
}

func newMetrics() *watch.Metrics {
	return &watch.Metrics{Version: thisBuild().String(), Start: time.Now()}
}

// storeFile and memoryFile are in the folder of the state.
const storeFile, memoryFile = "antenna.db", "memory.json"

// watch watches until ctx ends, or once. With names it is about these feeds or watches only.
func (v *watchCommand) watch(ctx context.Context, c *loaded, names []string) error {
	s := &service{watchCommand: v, log: newWatchLog(v.streams.err, c.Log.Format), notify: watch.NotifierOf(os.Getenv), unreached: make(chan struct{}, 1)}
	if s.metrics = v.counted; s.metrics == nil {
		s.metrics = newMetrics()
	}
	s.log.rounds = v.Once || names != nil
	s.log.configure(c)
	if _, err := newSetup(c, nil, s.log.Logger); err != nil { // before anything is made
		return err
	}
	if err := os.MkdirAll(c.state, 0o700); err != nil {
		return problem.Local("watch", c.state, err)
	}
	store, err := antenna.OpenStore(filepath.Join(c.state, storeFile))
	if err != nil {
		return storeFailure(err)
	}
	s.store = store
	if s.lead != nil {
		err = s.adopt(ctx)
	}
	if err == nil {
		err = s.use(c)
	}
	if err == nil {
		err = s.work(ctx, c, names)
	}
	return errors.Join(err, store.Close())
}

// work watches with the current setup.
func (s *service) work(ctx context.Context, c *loaded, names []string) error {
	defer func() { s.current.Load().close() }()
	var wg sync.WaitGroup
	defer wg.Wait()
	learning, stop := context.WithCancel(ctx)
	defer stop()
	wg.Go(func() { s.remember(learning) })
	if s.Once || names != nil {
		return s.runOnce(ctx, names)
	}
	return s.serve(ctx, c)
}

// rememberEvery is how often the speeds that were learned are written, if there are any.
const rememberEvery = time.Minute

// remember writes now and then what was learned.
func (s *service) remember(ctx context.Context) {
	ticker := time.NewTicker(rememberEvery)
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

func storeFailure(err error) error {
	p := &problem.Problem{Kind: download.Local, What: "watch", Where: "store", Why: strings.TrimPrefix(err.Error(), "store: ")}
	if e, ok := errors.AsType[*antenna.LockedError](err); ok {
		p.Why, p.Hint = e.Error(), "one process watches at a time; braid watch status asks it"
	}
	return p
}

// use makes a setup of a configuration the current one.
func (s *service) use(c *loaded) error {
	next, err := newSetup(c, s.store, s.log.Logger)
	if err != nil {
		return err
	}
	next.antenna.Observe = func(ev antenna.Event) {
		s.metrics.Observe(ev)
		s.log.event(ev)
		s.tally.add(ev)
		if s.lead != nil {
			s.reach(ev)
		}
	}
	s.log.configure(c)
	if err := job.AdoptState(next.client.State, c.state); err != nil {
		s.log.Warn("state", "error", err)
	}
	for _, text := range c.warnings() {
		s.log.Warn("configuration", "warning", text)
	}
	status, err := next.antenna.Status(context.Background())
	if err != nil {
		return &problem.Problem{Kind: download.Local, What: "watch", Where: "store", Why: err.Error()}
	}
	s.metrics.Know(status)
	for _, w := range c.Watches {
		s.metrics.Add(w.Name)
	}
	next.stop = next.sites.Limits.Follow()
	s.current.Store(next)
	return nil
}

// garbage is how much of it there may be for what is in use, in percent, before it is collected: half of what is usual.
// A service has time; its memory is taken from others for years.
const garbage = 50

// spareMemory has less garbage lie about, unless the environment says how much, until the function is called.
func spareMemory() (end func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(garbage)
	return func() { debug.SetGCPercent(before) }
}

// serve watches until ctx ends.
func (s *service) serve(ctx context.Context, c *loaded) error {
	defer spareMemory()()
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	socket, err := watch.Listen(c.state)
	if err != nil {
		return &problem.Problem{Kind: download.Local, What: "watch", Where: c.state, Why: listenReason(err)}
	}
	wg.Go(func() {
		if err := watch.Serve(ctx, socket, s); err != nil {
			s.log.Error("control", "error", err)
		}
	})
	if s.lead == nil { // else they are served while it stands by, too
		end, err := serveMetrics(ctx, c.Metrics, s.metrics, s.log.Logger)
		if err != nil {
			return err
		}
		defer end()
	}
	if s.lead != nil {
		wg.Go(func() { s.yield(ctx) })
	}
	beating, stop := context.WithCancel(context.WithoutCancel(ctx)) // to the very end: programs may take half a minute to it
	defer stop()
	wg.Go(func() { s.pulse(beating) })
	return s.rounds(ctx, c, hup)
}

// rounds watches by one configuration after the other.
func (s *service) rounds(ctx context.Context, c *loaded, hup <-chan os.Signal) error {
	s.ready(c)
	for {
		now := s.current.Load()
		run, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() {
			err := now.antenna.Watch(run, s.handler(now))
			if err == run.Err() { // it was told to end, and did
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
		if err := s.use(next); err != nil { // what was right a moment ago
			s.refuse(c, err)
			continue
		}
		c = next
		s.ready(c)
	}
}

// await waits until the watching ends, or until there is another configuration, which is returned.
func (s *service) await(c *loaded, ended <-chan error, hup <-chan os.Signal, ctx context.Context) (next *loaded, err error) {
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

// reload reads the configuration anew. One that is wrong is told of, and changes nothing.
func (s *service) reload(c *loaded) *loaded {
	s.notified(s.notify.Reloading())
	next, err := s.read(c)
	if err != nil {
		s.refuse(c, err)
		return nil
	}
	if next.state != c.state || next.Metrics != c.Metrics || next.Log.Format != c.Log.Format {
		s.log.Warn("state, metrics and log-format are as they were until the next start")
		next.state, next.Metrics, next.Log.Format = c.state, c.Metrics, c.Log.Format
	}
	if c.by != nil { // the client is the daemon's
		if c.by.pace(next); !slices.Equal(next.Hosts, c.Hosts) {
			s.log.Warn("allow-hosts are as they were until the next start")
			next.Hosts = c.Hosts
		}
	}
	return next
}

// read reads the configuration, and everything that it names.
func (s *service) read(c *loaded) (*loaded, error) {
	if c.file == "" {
		return nil, problem.Misuse("", "it is of flags, which do not change", "")
	}
	next, err := s.fromFile(c.file, toWatch)
	if err != nil {
		return nil, err
	}
	next.by = c.by
	state := next.state
	next.state = c.state
	_, err = newSetup(next, s.store, s.log.Logger)
	next.state = state
	return next, err
}

// refuse says that another configuration is wrong, and that c stays: to the log, and to the service manager, for which
// a reload ends when the service is ready again, and never fails.
func (s *service) refuse(c *loaded, err error) {
	f := problem.Of(err)
	s.log.Error("the configuration stays as it was", "where", f.Where, "error", f.Why, "hint", f.Hint)
	s.notified(s.notify.Ready(s.log.clean(c.watching() + ", as before: the configuration is wrong: " + f.Where + ": " + f.Why)))
}

// ready tells the service manager, and the log.
func (s *service) ready(c *loaded) {
	s.log.Info(c.watching(), "state", c.state)
	s.notified(s.notify.Ready(c.watching()))
}

func (c *loaded) watching() string {
	return fmt.Sprintf("watching %s by %s", count(len(c.Feeds), "feed"), countWatches(len(c.Watches)))
}

func countWatches(n int) string {
	if n == 1 {
		return "1 watch"
	}
	return fmt.Sprintf("%d watches", n)
}

// notified logs that the service manager could not be told something.
func (s *service) notified(err error) {
	if err != nil {
		s.log.Warn("sd_notify", "error", err)
	}
}

// pulse tells the watchdog that the watcher is alive, as long as it answers: four times in its period, as an answer may be late.
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

// Status says how feeds and watches stand.
func (s *service) Status(ctx context.Context) (antenna.Status, error) {
	now := s.current.Load()
	status, err := now.antenna.Status(ctx)
	if err == nil && now.of.by != nil {
		err = now.of.by.describe(ctx, status.Watches)
	}
	return status, err
}

// RunNow has a feed or a watch looked after now.
func (s *service) RunNow(ctx context.Context, name string) error {
	return s.current.Load().antenna.RunNow(ctx, name)
}

// Forget has a feed or a watch forgotten.
func (s *service) Forget(ctx context.Context, name string) error {
	return s.current.Load().forget(ctx, name)
}

// forget makes what is known of a feed or a watch unknown.
func (s *setup) forget(ctx context.Context, name string) error {
	return errors.Join(s.antenna.Forget(ctx, name), s.memory.Forget(name))
}
