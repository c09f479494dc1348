package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"braid/antenna"
	"braid/antenna/feed"
	"braid/fleet"
	"braid/fleet/jetstream"
	"braid/internal/job"
	"braid/internal/problem"
	"braid/internal/watch"
)

// resignTime is how long a watcher that ends may take to leave the others what it knows.
const resignTime = 10 * time.Second

// watchFor watches for a fleet: what is new becomes a job of its queue. Of the watchers with a configuration of one
// name one polls, and the others stand by.
func (v *watchCommand) watchFor(ctx context.Context, c *loaded) (err error) {
	if err := c.checkForFleet(); err != nil {
		return err
	}
	v.Fleet.lease = v.Lease
	log := newWatchLog(v.streams.err, c.Log.Format)
	log.configure(c)
	if v.fleet, err = v.Fleet.open(ctx, "watch", log.Logger); err != nil {
		return err
	}
	defer v.fleet.Close()
	v.counted = newMetrics()
	v.counted.More = v.expose
	end, err := serveMetrics(ctx, c.Metrics, v.counted, log.Logger)
	if err != nil {
		return err
	}
	defer end()
	for {
		if v.lead, err = v.standBy(ctx, c, log); err != nil {
			return nil // it ends
		}
		err = v.watch(v.lead.Context, c, nil)
		leaving, stop := context.WithTimeout(context.WithoutCancel(ctx), resignTime)
		if left := v.lead.Resign(leaving); left != nil && ctx.Err() == nil {
			log.Warn("others do not know what was seen last", "error", left)
		}
		stop()
		if err != nil || ctx.Err() != nil || v.Once {
			return err
		}
		if next, err := v.reread(c); err == nil {
			c = next
		} else {
			log.Error("the configuration stays as it was", "error", err)
		}
	}
}

// standBy waits until this watcher is the one that polls.
func (v *watchCommand) standBy(ctx context.Context, c *loaded, log *watchLog) (*jetstream.Lead, error) {
	hup := make(chan os.Signal, 1) // else it would end the process; the configuration is read when it is needed
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	notify := watch.NotifierOf(os.Getenv)
	var beats sync.WaitGroup
	defer beats.Wait()
	beating, stop := context.WithCancel(ctx)
	defer stop()
	if every := notify.Watchdog() / 4; every > 0 {
		beats.Go(func() {
			for beating.Err() == nil {
				notify.Alive()
				select {
				case <-beating.Done():
				case <-time.After(every):
				}
			}
		})
	}
	group, fingerprint := c.group()
	return v.fleet.Lead(ctx, group, fingerprint, antenna.LastBucket, func(l jetstream.Leader) {
		log.Info("standing by", "group", group, "for", l.Holder)
		if l.Print != fingerprint {
			log.Warn("that watcher has another configuration of this name; those of two fleets need two names", "group", group)
		}
		if err := notify.Ready("standing by for " + l.Holder); err != nil {
			log.Warn("sd_notify", "error", err)
		}
	})
}

// reread reads the configuration anew, as that of the watcher before may be old.
func (v *watchCommand) reread(c *loaded) (*loaded, error) {
	if c.file == "" {
		return c, nil
	}
	next, err := v.fromFile(c.file, toWatch)
	if err == nil {
		err = next.checkForFleet()
	}
	return next, err
}

// group is what the watchers of a configuration have in common, the name of its file, and a fingerprint of its feeds and watches.
func (c *loaded) group() (name, fingerprint string) {
	sum := sha256.New()
	for _, f := range c.Feeds {
		fmt.Fprintf(sum, "%q %q\n", f.Name, f.URL)
	}
	for _, w := range c.Watches {
		fmt.Fprintf(sum, "%q %q\n", w.Name, w.URL)
	}
	fingerprint = fmt.Sprintf("%.8x", sum.Sum(nil))
	if c.file == "" {
		return "flags-" + fingerprint, fingerprint
	}
	return strings.TrimSuffix(filepath.Base(c.file), filepath.Ext(c.file)), fingerprint
}

// checkForFleet refuses settings of a watch that workers do not get: they would be passed over, and some of them protect.
func (c *loaded) checkForFleet() error {
	for i := range c.Watches {
		w := &c.Watches[i]
		key := "watch." + w.Name + "."
		if err := firstMisuse([]wrongUse{
			{len(w.Keyrings)+len(w.Pins)+len(w.Authorities)+len(w.Signatures) > 0, key + "keyring",
				"who is trusted is what each worker says", "braid work --keyring FILE, or [site] in its settings"},
			{len(w.Run)+len(w.OnFailure) > 0, key + "run", "programs run where the file is", ""},
			{len(w.Header) > 0 || job.HasUser(w.URL) && !w.Glob || slices.ContainsFunc(w.Mirrors, job.HasUser),
				key + "header", "passwords do not go into the queue", "[site] in the settings of the workers"},
			{w.Keep > 0, key + "keep", "workers keep no old versions", ""},
			{w.Rate.Any(), key + "limit-rate", "limits are those of workers", "braid work --limit-rate"},
			{w.Size > 0, key + "max-size", "limits are those of workers", "braid work --max-size"},
			{w.AllowOlder || w.AllowLessProof, key + "allow-older", "what workers may do is what they say",
				"braid work --allow-less-proof"},
		}); err != nil {
			return err
		}
		if _, err := c.folderOf(w); err != nil {
			return err
		}
	}
	return nil
}

// folderOf is where the files of a watch go below the folder of the workers: as they would below that of the configuration.
func (c *loaded) folderOf(w *watch.Watch) (string, error) {
	if w.To != "" {
		return "", problem.Misuse("watch."+w.Name+".to", "the workers say where files go",
			"dir = \"isos\" is a folder below theirs")
	}
	base, err := os.Getwd()
	if c.file != "" {
		base, err = filepath.Abs(filepath.Dir(c.file))
	}
	if err != nil {
		return "", problem.Local("watch", c.file, err)
	}
	dir := w.Dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(base, dir)
	}
	below, err := filepath.Rel(base, dir)
	if err != nil || !filepath.IsLocal(below) {
		return "", problem.Misuse("watch."+w.Name+".dir", w.Dir+" is not below "+base,
			"with --queue it is a folder below that of the workers: dir = \"isos\"")
	}
	return filepath.ToSlash(below), nil
}

// adopt fills the store with what the watcher before has seen. If the queue has nothing of the group, it gets what is
// in the store.
func (s *service) adopt(ctx context.Context) error {
	values, n := map[string]map[string][]byte{}, 0
	err := s.lead.Kept(ctx, func(bucket, key string, value []byte) {
		if values[bucket] == nil {
			values[bucket] = map[string][]byte{}
		}
		values[bucket][key] = value
		n++
	})
	switch {
	case err != nil:
	case n > 0:
		err = s.store.Replace(values)
	default:
		err = s.store.Each(s.lead.Keep)
	}
	if err == nil && !s.lead.Whole {
		err = s.store.AskAnew()
	}
	if err != nil {
		return s.Fleet.failure("watch", err)
	}
	s.log.jobs = true
	s.log.Info("polling for the fleet", "known", n)
	s.store.Keep(s.lead.Keep)
	return nil
}

// yield leaves the lead to another watcher that stands by, once none of the feeds was reached from this machine.
func (s *service) yield(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.unreached:
		}
		if s.lead.Yield(ctx) {
			s.log.Warn("no feed was reached: another watcher polls")
			return
		}
	}
}

// reach takes down whether a poll has reached its feed.
func (s *service) reach(ev antenna.Event) {
	switch ev := ev.(type) {
	case antenna.Polled:
		s.polled.Reached()
	case antenna.PollFailed:
		_, reached := errors.AsType[*feed.RejectError](ev.Err)
		if reached {
			s.polled.Reached()
		} else if s.polled.Failed(ev.Feed, len(s.current.Load().of.Feeds)) {
			select {
			case s.unreached <- struct{}{}:
			default:
			}
		}
	}
}

// handler is what is done with updates.
func (s *service) handler(now *setup) antenna.Handler {
	if s.lead == nil {
		return now.updater.Handle
	}
	c := now.of
	return func(ctx context.Context, u antenna.Update) (antenna.Outcome, error) {
		rule := now.updater.Rules[u.Watch]
		if rule == nil {
			return antenna.Outcome{}, fmt.Errorf("there is no watch %q", u.Watch)
		}
		job, err := c.jobOf(rule, u)
		if err != nil {
			return antenna.Outcome{}, err
		}
		news, err := s.fleet.Report(ctx, job)
		if err != nil {
			return antenna.Outcome{}, err
		}
		s.fleet.tally.add(news.String(), 1)
		s.log.Info("job", "watch", u.Watch, "job", job.Name, "version", job.Version, "is", news.String())
		o := u.Last
		o.Changed, o.At = true, time.Now()
		return o, nil
	}
}

// jobOf makes a job of an update.
func (c *loaded) jobOf(rule *watch.Rule, u antenna.Update) (fleet.Job, error) {
	w := rule.Watch
	folder, err := c.folderOf(w)
	if err != nil {
		return fleet.Job{}, err
	}
	x, err := rule.Report(u)
	if err != nil {
		return fleet.Job{}, err
	}
	job := fleet.Job{Name: path.Join(folder, x.Name), Watch: w.Name, Version: x.Version, Modified: x.Modified,
		Priority: fleet.ParsePriority(string(w.Priority)), URIs: append([]string{u.URL}, w.Mirrors...)}
	add := func(name, value string) {
		if value != "" {
			job.Options = append(job.Options, fleet.Option{Name: name, Value: value})
		}
	}
	add("if-newer", "true")
	add("require", string(cmp.Or(w.Require, watch.RequireDigest)))
	add("user-agent", c.UserAgent)
	add("not-host", strings.Join(c.NotHosts, ","))
	if w.NoMetalink {
		add("no-metalink", "true")
	}
	return job, nil
}
