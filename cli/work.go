package cli

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"braid/download"
	"braid/fleet"
	"braid/fleet/jetstream"
	"braid/internal/watch"
	"braid/objectstore"
)

// A workCommand is one run of braid work. The flags of its getCommand count for all downloads.
type workCommand struct {
	*getCommand
	To        string
	Lease     duration
	Metrics   string
	LogFormat choice
	// LowestSpeedLimit is that of each download.
	LowestSpeedLimit rate

	log     *watchLog
	notify  watch.Notifier
	running context.Context // of the worker
	queue   *fleetQueue
	pacer   *jetstream.Pacer
	place   workplace
	ending  sync.WaitGroup

	mu    sync.Mutex
	tasks map[int]*workTask // by number, from 0
	// health is for the mutex, too.
	health fleet.Health
}

// usualWork is how many downloads a worker has at once, if nothing is said. It takes no job before there is room for one.
const usualWork = 4

func newWork(s streams) (action, targets) {
	w := &workCommand{getCommand: newGetCommand(s), tasks: map[int]*workTask{}, LowestSpeedLimit: watch.DefaultLowest}
	return w.run, targetsOf(w)
}

func (w *workCommand) run(ctx context.Context, words []string) error {
	if err := w.checkFlags(words); err != nil {
		return err
	}
	w.running = ctx
	defer spareMemory()()
	w.log = commandLog(w.streams.err, w.LogFormat.Word, w.Quiet, w.Verbose)
	w.notify = watch.NotifierOf(os.Getenv)
	w.sites = newSites(configurationOf(ctx))
	client, err := w.prepareClient(ctx)
	if err != nil {
		return err
	}
	defer client.HTTP.CloseIdle()
	defer client.State.Save()
	defer w.sites.limits.follow()()
	if w.queue, err = w.Fleet.open(ctx, "work", w.log.Logger); err != nil {
		return err
	}
	defer w.queue.Close()
	if w.place, err = w.openPlace(); err != nil {
		return err
	}
	defer w.place.close()
	w.paceFor(client)
	if away := w.queue.Offset(); away.Abs() > time.Second {
		w.log.Info("clock", "queue-ahead", away)
	}
	m := newMetrics()
	m.More = w.expose
	end, err := serveMetrics(ctx, w.Metrics, m, w.log.Logger)
	if err != nil {
		return err
	}
	defer end()
	w.log.Info("ready", "queue", w.Fleet.text(), "to", w.To, "at-once", int(w.MaxConcurrentDownloads))
	w.notified(w.notify.Ready("at work for " + w.Fleet.text()))
	w.work(ctx, client)
	return nil
}

func (w *workCommand) notified(err error) {
	if err != nil {
		w.log.Warn("sd_notify", "error", err)
	}
}

func (w *workCommand) checkFlags(words []string) error {
	if w.MaxConcurrentDownloads == 0 {
		w.MaxConcurrentDownloads = usualWork
	}
	if err := firstMisuse([]wrongUse{
		{len(words) > 0, "work", "takes no operand", "braid get --queue QUEUE URL puts a file into the queue"},
		{w.Quiet && w.Verbose, "-q", "contradicts -v", ""},
		{w.To == "", "work", "no folder for the files", "--to FOLDER, which all workers of the queue share, or --to s3://BUCKET/PREFIX/"},
		{strings.HasPrefix(w.To, "s3:") && !objectstore.IsURL(w.To), "--to", "not a place in an object store", "--to s3://BUCKET/PREFIX/"},
		{w.Peers.seeds(), "--seed-time", "a worker goes on with the next job", ""},
	}); err != nil {
		return err
	}
	w.Fleet.lease = w.Lease
	return w.Fleet.check("work")
}

// paceFor has a client keep to the pace of hosts together with the other workers.
func (w *workCommand) paceFor(client *download.Client) {
	hosts := client.HostLimits
	w.pacer = w.queue.Pacer(int(w.MaxConcurrentDownloads), func(u *url.URL) fleet.Limit {
		return fleet.Limit{Requests: client.HTTP.HostRate(u), Bytes: hosts.Rate(u)}
	})
	client.HTTP.Pace = w.pacer
	hosts.Share = func(host string, perSecond int64, l *download.Limiter) func() {
		return w.pacer.Share(host, perSecond, l)
	}
}

// prepareClient makes the client that all downloads have, and reads the flags that count for all.
func (w *workCommand) prepareClient(ctx context.Context) (client *download.Client, err error) {
	if client, err = w.client(nil); err != nil {
		return nil, err
	}
	client.HTTP.IdlePerHost, client.LowestSpeed = int(w.MaxConcurrentDownloads), int64(w.LowestSpeedLimit)
	if own, _, _ := strings.Cut(os.Getenv("STATE_DIRECTORY"), ":"); own != "" { // a service may have no other folder
		client.JournalKey, client.State.Dir = filepath.Join(own, "journal-key"), own
	}
	if err := w.prepareFor(client); err != nil {
		return nil, err
	}
	return client, w.readSums(ctx, client, nil)
}

// work takes jobs and downloads until ctx ends. Then all are given back.
func (w *workCommand) work(ctx context.Context, client *download.Client) {
	jobs, room := make(chan download.Job), make(chan struct{}, w.MaxConcurrentDownloads)
	var taking sync.WaitGroup
	taking.Go(func() {
		defer close(jobs)
		w.take(ctx, jobs, room)
	})
	client.GetEach(ctx, jobs, download.Batch{AtOnce: int(w.MaxConcurrentDownloads), Ended: func(n int, r download.Request, x download.Result, err error) {
		t := w.task(n)
		w.ending.Go(func() {
			t.end(r, x, err)
			<-room
		})
	}})
	w.notified(w.notify.Stopping())
	w.log.Info("ending")
	taking.Wait()
	w.ending.Wait()
}

// take takes a job whenever there is room for one.
func (w *workCommand) take(ctx context.Context, jobs chan<- download.Job, room chan struct{}) {
	for n := 0; ; n++ {
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			return
		}
		if w.fit(ctx, room) != nil {
			return
		}
		claim, err := w.queue.Next(ctx)
		if err != nil {
			return
		}
		if claim.TakenOver {
			w.queue.tally.add(countTakenOver, 1)
		}
		t := newWorkTask(w, claim)
		w.mu.Lock()
		w.tasks[n] = t
		w.mu.Unlock()
		select {
		case jobs <- download.Job{Context: claim.Context, Request: t.request}:
		case <-ctx.Done():
			t.release()
			return
		}
	}
}

// task removes the task of a number from those at work, and returns it.
func (w *workCommand) task(n int) *workTask {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tasks[n]
	delete(w.tasks, n)
	return t
}
