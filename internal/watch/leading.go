package watch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
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
	"braid/download"
	"braid/fleet"
	"braid/internal/job"
	"braid/internal/plug/jetstream"
	"braid/internal/problem"
	"braid/internal/worker"
)

// reports is how many updates become jobs at the same time.
const reports = 4

// resignTime limits how long a watcher may take, when it ends, to pass its state to the other watchers.
const resignTime = 10 * time.Second

// A Fleet is a queue in which the updates of a watcher become jobs. Of the watchers whose configurations have the same
// name, one polls and the other watchers stand by.
type Fleet struct {
	Queue   *jetstream.Queue
	Failure func(error) error // describes an error of the queue to the user
	tally   counts
	lead    *jetstream.Lead
	reports chan struct{} // limits concurrent reports
}

// WatchFor watches for the fleet until ctx is done or, with Once, for one round.
func (w *Watcher) WatchFor(ctx context.Context, c *Loaded) (kinds []download.Kind, err error) {
	log := NewServiceLog(w.Err, c.Log.Format)
	log.Configure(c)
	f := w.Fleet
	f.reports = make(chan struct{}, reports)
	w.Metrics.More = f.expose
	end, err := ServeMetrics(ctx, c.Metrics, w.Metrics, log.Logger)
	if err != nil {
		return nil, err
	}
	defer end()
	for {
		if f.lead, err = f.standBy(ctx, c, log); err != nil {
			return nil, nil // ctx ended
		}
		kinds, err = w.Watch(f.lead.Context, c, nil)
		leaving, stop := context.WithTimeout(context.WithoutCancel(ctx), resignTime)
		if left := f.lead.Resign(leaving); left != nil && ctx.Err() == nil {
			log.Warn("the last seen version could not be passed on to the other watchers", "error", left)
		}
		stop()
		if err != nil || len(kinds) > 0 || ctx.Err() != nil || w.Once {
			return kinds, err
		}
		if next, err := reread(c); err == nil {
			c = next
		} else {
			log.Error("the configuration is unchanged", "error", err)
		}
	}
}

// expose writes the metrics of the queue, and of the updates that became jobs of the queue.
func (f *Fleet) expose(e *Exposition) {
	ExposeQueue(e, f.Queue)
	e.Family("braid_watch_jobs_total", "counter", "Updates added to the queue, by result.")
	now := f.tally.now()
	for _, news := range slices.Sorted(maps.Keys(now)) {
		e.Sample(float64(now[news]), "news", news)
	}
}

// standBy blocks until this watcher may poll for the fleet.
func (f *Fleet) standBy(ctx context.Context, c *Loaded, log *ServiceLog) (*jetstream.Lead, error) {
	hup := make(chan os.Signal, 1) // without a handler, SIGHUP would end the process
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	notify := NotifierOf(os.Getenv)
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
	return f.Queue.Lead(ctx, group, fingerprint, antenna.LastBucket, func(l jetstream.Leader) {
		log.Info("standing by", "group", group, "for", l.Holder)
		if err := errors.Join(os.MkdirAll(c.Folder, 0o700), markStore(c.Folder, true)); err != nil {
			log.Warn("the state folder", "error", err)
		}
		if l.Print != fingerprint {
			log.Warn("the leading watcher has a different configuration in a file of the same name; rename one file "+
				"if the two watchers belong to different fleets", "group", group)
		}
		if err := notify.Ready("standing by for " + l.Holder); err != nil {
			log.Warn("sd_notify", "error", err)
		}
	})
}

// reread reads the configuration again, because it may have changed since the last time.
func reread(c *Loaded) (*Loaded, error) {
	if c.File == "" {
		return c, nil
	}
	next, err := c.Reread()
	if err == nil {
		err = next.CheckForFleet()
	}
	return next, err
}

// group returns the name of the group of watchers with this configuration, and a fingerprint of its feeds and watches.
// The name is that of the configuration's file. Without a file, the name contains the fingerprint.
func (c *Loaded) group() (name, fingerprint string) {
	sum := sha256.New()
	for _, f := range c.Feeds {
		fmt.Fprintf(sum, "%q %q\n", f.Name, f.URL)
	}
	for _, w := range c.Watches {
		fmt.Fprintf(sum, "%q %q\n", w.Name, w.URL)
	}
	fingerprint = fmt.Sprintf("%.8x", sum.Sum(nil))
	if c.File == "" {
		return "flags-" + fingerprint, fingerprint
	}
	return strings.TrimSuffix(filepath.Base(c.File), filepath.Ext(c.File)), fingerprint
}

// CheckForFleet returns an error for settings that workers do not receive. Such settings would have no effect, and some
// are protective.
func (c *Loaded) CheckForFleet() error {
	if c.Size > 0 {
		return problem.Misuse("max-size", "cannot be set with --queue: workers set their own limits",
			"set it with braid work --max-size")
	}
	for i := range c.Watches {
		w := &c.Watches[i]
		for _, wrong := range []struct {
			is             bool
			key, why, hint string
		}{
			{len(w.Keys)+len(w.Keyrings)+len(w.Pins)+len(w.Authorities)+len(w.Signatures) > 0, "keyring",
				"cannot be set with --queue: each worker decides which keys are trusted",
				"give the keys with braid work --keyring FILE, or under [site] in the settings of the workers"},
			{len(w.Run)+len(w.OnFailure) > 0, "run", "cannot be set with --queue: workers run the programs", ""},
			{len(w.Header) > 0 || job.HasUser(w.URL) && !w.Glob || slices.ContainsFunc(w.Mirrors, job.HasUser),
				"header", "cannot be set with --queue: a queue stores no passwords",
				"set them under [site] in the settings of the workers"},
			{w.FeedMirrors, "feed-mirrors", "does not apply with --queue: workers use only the URLs of the job",
				"name mirrors with mirror ="},
			{w.Keep != nil && *w.Keep > 0 && !w.File.PerVersion(), "keep",
				"does not apply with --queue, unless each version has its own file name", ""},
			{w.Rate.Any(), "limit-rate", "cannot be set with --queue: workers set their own limits",
				"set it with braid work --limit-rate"},
			{w.Size > 0, "max-size", "cannot be set with --queue: workers set their own limits",
				"set it with braid work --max-size"},
			{w.AllowOlder || w.AllowLessProof, "allow-older", "cannot be set with --queue: workers decide this",
				"set it with braid work --allow-less-proof"},
		} {
			if wrong.is {
				return problem.Misuse("watch."+w.Name+"."+wrong.key, wrong.why, wrong.hint)
			}
		}
		folder, err := c.folderOf(w)
		if err != nil {
			return err
		}
		if err := worker.CheckName(path.Join(folder, "x")); err != nil {
			return problem.Misuse("watch."+w.Name+".dir", err.Error(), "dir = \"isos\"")
		}
	}
	return nil
}

// folderOf returns the path of the folder of a watch below the folder of the workers. The folder of the watch has the
// same path below the folder of the configuration.
func (c *Loaded) folderOf(w *Watch) (string, error) {
	if w.To != "" {
		return "", problem.Misuse("watch."+w.Name+".to", "cannot be set with --queue: the workers decide where files go",
			"use dir = \"isos\" for a folder inside that of the workers")
	}
	base, err := os.Getwd()
	if c.File != "" {
		base, err = filepath.Abs(filepath.Dir(c.File))
	}
	if err != nil {
		return "", problem.Local("watch", c.File, err)
	}
	dir := w.Dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(base, dir)
	}
	below, err := filepath.Rel(base, dir)
	if err != nil || !filepath.IsLocal(below) {
		return "", problem.Misuse("watch."+w.Name+".dir", w.Dir+" is not below "+base,
			"with --queue, give a folder inside that of the workers, as in dir = \"isos\"")
	}
	return filepath.ToSlash(below), nil
}

// adopt fills the store with the state of the previous watcher. If the queue has no state of the group, adopt uploads
// the state of the store.
func (s *service) adopt(ctx context.Context) error {
	values, n := map[string]map[string][]byte{}, 0
	err := s.Fleet.lead.Kept(ctx, func(bucket, key string, value []byte) {
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
		err = s.store.Each(s.Fleet.lead.Keep)
	}
	s.store.Keep(s.Fleet.lead.Keep)
	if err == nil && !s.Fleet.lead.Whole {
		err = s.store.AskAnew()
	}
	if err != nil {
		return s.Fleet.Failure(err)
	}
	s.Fleet.lead.Adopted()
	s.log.jobs = true
	s.log.Info("polling for the fleet", "known", n)
	return nil
}

// yield passes the lead to another watcher when this machine reaches none of the feeds.
func (s *service) yield(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.unreached:
		}
		if s.Fleet.lead.Yield(ctx) {
			s.log.Warn("no feed could be reached: another watcher takes over")
			return
		}
	}
}

// reach records whether a poll reached its feed.
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

// jobOf returns the job for an update.
func (c *Loaded) jobOf(rule *Rule, u antenna.Update) (fleet.Job, error) {
	w := rule.Watch
	folder, err := c.folderOf(w)
	if err != nil {
		return fleet.Job{}, err
	}
	x, err := rule.Report(u)
	if err == nil && u.Release != nil {
		err = checkToken(u.URL)
	}
	if err != nil {
		return fleet.Job{}, err
	}
	if err := worker.CheckName(path.Join(folder, x.Name)); err != nil {
		return fleet.Job{}, problem.Misuse("watch."+w.Name, err.Error(), "set another name =")
	}
	if u.Release != nil { // the date is often the date of the announcement, not of the file
		x.Modified = time.Time{}
	}
	job := fleet.Job{Name: path.Join(folder, x.Name), Watch: w.Name, Version: x.Version, Modified: x.Modified,
		Priority: fleet.ParsePriority(string(w.Priority)), URIs: append([]string{u.URL}, w.Mirrors...)}
	if announced := u.Release == nil && u.Action == feed.Download; announced && u.Reason == feed.SizeChanged {
		job.Size = u.Record.Size
	} else if announced {
		job.OtherMD5 = u.Reason == feed.MD5Changed
	}
	add := func(name, value string) {
		if value != "" {
			job.Options = append(job.Options, fleet.Option{Name: name, Value: value})
		}
	}
	add("if-newer", "true")
	add("require", string(cmp.Or(w.Require, RequireDigest)))
	add("user-agent", c.UserAgent)
	add("not-host", strings.Join(c.NotHosts, ","))
	if w.NoLookup {
		add("no-lookup", "true")
	}
	if w.NoMetalink {
		add("no-metalink", "true")
	}
	if u.Release != nil && !isOtherVersion(&u) && !w.Releases.Moving {
		add("sha256", u.Last.Digest)
	}
	job.Follows = followsOf(w, &u, folder)
	return job, nil
}

// followsOf returns the part of a job about other versions, or nil if its watch has no link and keeps all versions.
func followsOf(w *Watch, u *antenna.Update, folder string) *fleet.Follows {
	if u.Release == nil || w.Link == "" && w.Keep == nil {
		return nil
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", w.Name, w.URL, folder))
	f := &fleet.Follows{Of: hex.EncodeToString(sum[:12]), Version: u.Release.Version, Keep: w.Keep}
	if w.Link != "" {
		f.Link = path.Join(folder, w.Link)
	}
	return f
}
