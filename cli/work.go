package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"braid/download"
	"braid/fleet"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/plug/jetstream"
	"braid/internal/plug/objectstore"
	"braid/internal/problem"
	"braid/internal/watch"
	"braid/internal/worker"
	"braid/metalink"
	"braid/source"
)

// A workCommand is one run of braid work. Its Job has the options for all downloads.
type workCommand struct {
	Job *job.Defaults
	streams
	outputFlags
	MaxConcurrentDownloads parallel
	Fleet                  fleetFlags
	To                     string
	Lease                  duration
	Metrics                string
	LogFormat              choice
	// LowestSpeedLimit applies to each download separately.
	LowestSpeedLimit rate

	log    *watch.ServiceLog
	notify watch.Notifier
	queue  *fleetQueue
	worker *worker.Worker
}

// usualWork is the default number of a worker's concurrent downloads. A worker takes a job only when its download can begin.
const usualWork = 4

func newWork(s streams) (action, targets) {
	w := &workCommand{Job: newDefaults(s), streams: s, outputFlags: newOutputFlags(s), LowestSpeedLimit: watch.DefaultLowest}
	return w.run, targetsOf(w)
}

func (w *workCommand) run(ctx context.Context, words []string) error {
	if err := w.checkFlags(words); err != nil {
		return err
	}
	defer watch.SpareMemory()()
	w.log = watch.CommandLog(w.streams.err, w.LogFormat.Word, w.Quiet, w.Verbose)
	w.notify = watch.NotifierOf(os.Getenv)
	w.Job.HTTP.Sites = job.NewSites(configurationOf(ctx))
	if text := configurationOf(ctx).Warning(); text != "" {
		w.log.Warn("settings", "warning", text)
	}
	client, err := w.prepareClient(ctx)
	if err != nil {
		return err
	}
	defer client.HTTP.CloseIdle()
	defer client.State.Save()
	defer w.Job.HTTP.Sites.Limits.Follow()()
	if w.queue, err = w.Fleet.open(ctx, "work", w.log.Logger); err != nil {
		return err
	}
	defer w.queue.Close()
	place, err := w.openPlace()
	if err != nil {
		return err
	}
	defer place.Close()
	if err := w.registerPlace(ctx, place); err != nil {
		return err
	}
	w.worker = worker.New(w.queue.Queue, place, w.log.Logger)
	w.worker.AtOnce, w.worker.Request, w.worker.ExitCode = int(w.MaxConcurrentDownloads), w.request, exitCode
	w.worker.Stopping = func() { w.notified(w.notify.Stopping()) }
	if away := w.queue.Offset(); away.Abs() > time.Second {
		w.log.Info("clock", "queue-ahead", away)
	}
	m := newMetrics()
	m.More = w.expose
	end, err := watch.ServeMetrics(ctx, w.Metrics, m, w.log.Logger)
	if err != nil {
		return err
	}
	defer end()
	w.log.Info("ready", "queue", w.Fleet.text(), "to", w.To, "at-once", int(w.MaxConcurrentDownloads))
	w.notified(w.notify.Ready("running for " + w.Fleet.text()))
	w.worker.Run(ctx, client)
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
		{len(words) > 0, "work", "takes no operand", "add a file to the queue with braid get --queue QUEUE URL"},
		{w.Quiet && w.Verbose, "-q", "contradicts -v", ""},
		{w.To == "", "work", "missing folder for the files",
			"give --to FOLDER, the same for all workers of the queue, or --to s3://BUCKET/PREFIX/"},
		{strings.HasPrefix(w.To, "s3:") && !objectstore.IsURL(w.To), "--to", "is not a URL of the form s3://BUCKET/PREFIX/",
			"--to s3://BUCKET/PREFIX/"},
		{w.Job.Peers.Seeds(), "--seed-time", "does not apply to workers: a worker continues with the next job", ""},
	}); err != nil {
		return err
	}
	w.Fleet.lease = w.Lease
	return w.Fleet.check("work")
}

func (w *workCommand) openPlace() (worker.Place, error) {
	if !objectstore.IsURL(w.To) {
		return worker.OpenFolder(w.To)
	}
	note := func(text string) { w.log.Warn(text) }
	store, err := objectstore.Open(w.To, job.StoreOptions(w.Job.Agent, time.Duration(w.Job.Transfer.Timeout), note))
	if err != nil {
		return nil, err
	}
	return worker.NewStore(store, w.log.Logger), nil
}

// registerPlace returns an error if other running workers of the queue store files in a place other than this one.
func (w *workCommand) registerPlace(ctx context.Context, place worker.Place) error {
	id, err := place.ID()
	if err != nil {
		return problem.Local("work", w.To, err)
	}
	err = w.queue.PlaceAt(ctx, jetstream.Destination{ID: id, Endpoint: place.Endpoint(), Name: w.To})
	if e, ok := errors.AsType[*jetstream.DestinationError](err); ok {
		return problem.Misuse("--to "+w.To, source.Escape(e.Error()), "give all workers of a queue the same --to")
	}
	if err != nil {
		return w.Fleet.failure("work", err)
	}
	return nil
}

// prepareClient returns the client for all downloads, set up with the flags and settings of the worker.
func (w *workCommand) prepareClient(ctx context.Context) (client *download.Client, err error) {
	w.Job.OfClients = true
	if client, err = w.Job.Client(); err != nil {
		return nil, err
	}
	client.HTTP.IdlePerHost, client.LowestSpeed = int(w.MaxConcurrentDownloads), int64(w.LowestSpeedLimit)
	// a service may be unable to write elsewhere
	if own, _, _ := strings.Cut(os.Getenv("STATE_DIRECTORY"), ":"); own != "" {
		client.JournalKey, client.State.Dir = filepath.Join(own, "journal-key"), own
	}
	if err := w.Job.Prepare(client); err != nil {
		return nil, err
	}
	return client, w.Job.ReadSums(ctx, client, nil)
}

// request returns the download request for j, with the flags and settings of the worker. The job may require more proof
// than these, but not less.
func (w *workCommand) request(j *fleet.Job) (download.Request, error) {
	listed, demanded := option.Entry{URIs: j.URIs}, ""
	for _, o := range j.Options {
		if o.Name == "require" {
			demanded = o.Value
		} else {
			listed.Options = append(listed.Options, option.Setting{Name: o.Name, Value: o.Value})
		}
	}
	r, err := w.Job.Request(listed)
	if err == nil {
		err = job.DemandMore(&r, demanded)
	}
	if err != nil {
		return r, err
	}
	if err := w.Job.Vouch(&r); err != nil {
		return r, err
	}
	if err := metalink.CheckPath(j.Name); err != nil { // worker.CheckName returns the same message
		return r, problem.Misuse("job "+j.Name, err.Error(), "")
	}
	if f := j.Follows; f != nil && f.Link != "" {
		if err := w.notOwn(f.Link); err != nil {
			return r, err
		}
	}
	return r, w.notOwn(j.Name)
}

// own returns the paths of the files and folders that the worker itself uses.
func (w *workCommand) own() []string {
	return slices.Concat(job.OwnFolders(), w.Job.Files(), w.Fleet.files())
}

// notOwn returns an error if the file of the job with that name would replace a file that the worker itself uses. Such
// a job cannot succeed on a retry.
func (w *workCommand) notOwn(name string) error {
	if objectstore.IsURL(w.To) || !job.LeadsTo(filepath.Join(w.To, filepath.FromSlash(name)), w.own()) {
		return nil
	}
	return problem.Misuse("job "+source.Escape(name), "the file would replace one that the worker itself uses",
		"give --to a folder that does not contain the settings, keys or queue")
}

// expose writes the worker's metrics to e.
func (w *workCommand) expose(e *watch.Exposition) {
	watch.ExposeQueue(e, w.queue.Queue)
	jobs, now := w.worker.Counts()
	e.Family("braid_work_jobs", "gauge", "Jobs that this worker has now.")
	e.Sample(float64(jobs))
	e.Family("braid_work_tries_total", "counter",
		"Attempts by result: file stored, file already there, failed and to be retried, job dead, job given back, or "+
			"job taken by another worker.")
	for _, result := range []string{string(fleet.Done), worker.CountUnchanged, string(fleet.Waiting),
		string(fleet.Dead), worker.CountGivenBack, worker.CountLost} {
		e.Sample(float64(now[result]), "result", result)
	}
	e.Family("braid_work_takeovers_total", "counter", "Jobs that were taken over from a worker whose lease had run out.")
	e.Sample(float64(now[worker.CountTakenOver]))
	e.Family("braid_work_paused", "gauge", "Whether this worker is paused because its jobs fail.")
	e.Sample(float64(now[worker.CountPaused]))
	e.Family("braid_work_pauses_total", "counter", "Number of times that this worker paused because its jobs failed.")
	e.Sample(float64(now[worker.CountPauses]))
	e.Family("braid_work_bytes_total", "counter", "Bytes received by downloads.")
	e.Sample(float64(now[worker.CountBytes]))
}
