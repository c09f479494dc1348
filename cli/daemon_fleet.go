package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"braid/daemon"
	"braid/daemon/page"
	"braid/daemon/queue"
	"braid/download"
	"braid/fleet"
	"braid/fleet/jetstream"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/problem"
)

// fleetJobs are the entries of a daemon as jobs of a fleet, and what the daemon knows of the fleet. It is a daemon.Jobs.
type fleetJobs struct {
	queue   *fleetQueue
	job     func(e queue.Entry) (fleet.Job, error)
	prefix  string        // of the Watch of its jobs; the GID follows
	changed chan struct{} // has room for one

	mu      sync.Mutex
	whole   bool // all records have come that there were
	board   fleet.Board
	own     map[string]daemon.Job // by the keys of their records
	sent    map[queue.GID]string  // the versions that have a message
	workers []fleet.Worker        // as they answered last
	asked   time.Time
}

// askEvery is how often workers are asked while one has a job of the daemon. For the page they are asked twice as often at most.
const askEvery = 2 * time.Second

// enqueueingDaemon are the flags of a daemon that make sense where others download.
var enqueueingDaemon = append([]string{
	"dir", "root", "state", "rpc-listen-port", "rpc-listen-all", "rpc-insecure", "rpc-allow-origin", "rpc-host",
	"tls-cert", "tls-key", "log-format",
}, enqueueing...)

// checkFleet refuses what is for downloads of the daemon's own.
func (d *daemonCommand) checkFleet(ctx context.Context) error {
	if d.Fleet.Queue == "" {
		return nil
	}
	if d.Watch != "" {
		return problem.Misuse("--queue "+d.Fleet.text(), "contradicts --watch",
			"braid watch --queue "+d.Fleet.text()+" makes jobs of updates")
	}
	if err := refuseOthers(ctx, enqueueingDaemon, "braid work --help; clients give downloads options of their own"); err != nil {
		return err
	}
	return d.Fleet.check("daemon")
}

// openFleet connects to the queue, if there is one. The prefix of its jobs is that of this daemon for as long as it has
// the folder of its state.
func (d *daemonCommand) openFleet(ctx context.Context) error {
	if d.Fleet.Queue == "" {
		return nil
	}
	prefix, err := fleetPrefix(d.State)
	if err != nil {
		return err
	}
	q, err := d.Fleet.open(ctx, "daemon", d.log.Logger)
	if err != nil {
		return err
	}
	d.jobs = &fleetJobs{
		queue: q, job: d.jobOf, prefix: prefix,
		changed: make(chan struct{}, 1), own: map[string]daemon.Job{}, sent: map[queue.GID]string{},
	}
	q.Follow(d.jobs.apply)
	return nil
}

func (f *fleetJobs) close() {
	if f != nil {
		f.queue.Close()
	}
}

// apply takes a record that has changed; see [jetstream.Queue.Follow].
func (f *fleetJobs) apply(key string, r *fleet.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, was := f.own[key]
	j, own := f.jobIn(r)
	if key != "" {
		f.board.Put(key, r)
	}
	switch {
	case key == "":
		f.whole = true
	case own:
		f.own[key] = j
	case was:
		delete(f.own, key)
		delete(f.sent, before.GID)
	default:
		return
	}
	f.signal()
}

// signal has the daemon compare its entries with All.
func (f *fleetJobs) signal() {
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// jobIn returns the job of a record, which may be nil, if it is one of this daemon's.
func (f *fleetJobs) jobIn(r *fleet.Record) (j daemon.Job, own bool) {
	if r == nil {
		return j, false
	}
	word, own := strings.CutPrefix(r.Job.Watch, f.prefix)
	gid, ok := queue.ParseGID(word)
	if !own || !ok {
		return j, false
	}
	j = daemon.Job{GID: gid, Name: r.Job.Name, Version: r.Job.Version}
	switch e := r.Last; {
	case r.State == fleet.Queued:
		j.Unsent = true // unless All knows better
	case r.State == fleet.Running:
		j.Status, j.Live = queue.Active, liveOf(r.Lease.Holder, r.Progress)
	case r.State == fleet.Done && r.Good != nil:
		j.Status, j.Live = queue.Complete, queue.Live{Path: r.Good.Path, Done: r.Good.Size, Size: r.Good.Size}
		j.Outcome = queue.Outcome{Verified: r.Good.Proof}
	case r.State == fleet.Dead && e != nil:
		j.Status, j.Live = queue.Failed, queue.Live{Size: -1}
		why := fmt.Sprintf("%s (%s, the last at %s)", e.Why, count(r.Tries, "try"), e.Worker)
		j.Outcome = deadOutcome(e, why)
	}
	return j, true
}

func liveOf(worker string, p fleet.Progress) queue.Live {
	return queue.Live{
		Done: p.Done, Size: p.Size, Speed: p.Speed, Connections: p.Sources, Worker: worker,
	}
}

// deadOutcome is the outcome of a job that is not tried again, which ended in e. Its code is that of a daemon without a
// queue.
func deadOutcome(e *fleet.Ending, why string) queue.Outcome {
	kind := exitKind(e.Code)
	return queue.Outcome{
		Kind: kind.String(), Code: cmp.Or(e.Aria2, problem.Aria2Code(&problem.Problem{Kind: kind})), Message: why,
		Hint: "braid queue retry, or resume it here, when that is mended",
	}
}

// Changed implements daemon.Jobs.
func (f *fleetJobs) Changed() <-chan struct{} { return f.changed }

// All implements daemon.Jobs.
func (f *fleetJobs) All() (jobs []daemon.Job, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	doing := map[string]fleet.Doing{}
	for _, w := range f.workers {
		for _, d := range w.Doing {
			doing[d.Key] = d
		}
	}
	for key, j := range f.own {
		if d, told := doing[key]; told && j.Status == queue.Active {
			j.Live = liveOf(j.Live.Worker, d.Progress)
		}
		j.Unsent = j.Unsent && f.sent[j.GID] != j.Version
		jobs = append(jobs, j)
	}
	return jobs, f.whole
}

// Look implements page.Fleet.
func (f *fleetJobs) Look(ctx context.Context, most int) (s page.Standing, err error) {
	if _, err := f.queue.Unfinished(ctx); err != nil {
		return s, err
	}
	lost, err := f.queue.Lost(ctx)
	if err != nil && !isNewer(err) {
		return s, err
	}
	f.ask(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Status = f.board.Status(f.workers, time.Now().Add(f.queue.Offset()))
	s.Drained, s.Lost = f.queue.Paused(), lost
	s.Hosts, s.Waiting, s.Dead = f.board.Hosts(), f.board.In(fleet.Waiting, most), f.board.In(fleet.Dead, most)
	return s, nil
}

// Retry implements page.Fleet.
func (f *fleetJobs) Retry(ctx context.Context, name string) (bool, error) {
	return f.queue.Retry(ctx, fleet.KeyOf(name))
}

// page returns the options of the page.
func (d *daemonCommand) page(admit func(http.ResponseWriter, *http.Request) bool) page.Options {
	o := page.Options{Admit: admit, Token: d.tokenFrom, Folder: d.Job.Dir}
	if d.jobs != nil {
		o.Fleet, o.Folder = d.jobs, "" // workers know where their files go
	}
	return o
}

// Put implements daemon.Jobs.
func (f *fleetJobs) Put(ctx context.Context, e queue.Entry, version string) error {
	j, err := f.job(e)
	if err == nil {
		j.Watch, j.Version = f.prefix+e.GID.String(), version
		j.Name = cmp.Or(f.nameOf(e.GID, version), j.Name)
		if _, err = f.queue.Report(ctx, j); err == nil {
			f.mu.Lock()
			f.sent[e.GID] = version
			f.mu.Unlock()
		}
	}
	if taken, ok := errors.AsType[*fleet.TakenError](err); ok {
		why := taken.Error()
		if gid, own := strings.CutPrefix(taken.Job.Watch, f.prefix); own {
			why = "its name is that of the entry " + gid
		}
		err = problem.Misuse(j.Name, why, "another name (out), or wait for that one")
	}
	if large, ok := errors.AsType[*jetstream.LargeError](err); ok {
		err = problem.Misuse(large.Job, large.Error(), "fewer places or shorter options")
	}
	if isNewer(err) { // the other entries do not wait for this one
		err = &problem.Problem{
			Kind: download.Refused, What: "queue", Where: j.Name, Why: err.Error(), Hint: "update this braid",
		}
	}
	own, ok := errors.AsType[*problem.Problem](err)
	if !ok {
		return err
	}
	return &daemon.RefusedError{Outcome: queue.Outcome{
		Kind: own.Kind.String(), Code: problem.Aria2Code(own), Message: own.Gist(), Hint: own.Hint,
	}}
}

// nameOf is the name of the job that an entry is already; another folder of the daemon would give it another one.
func (f *fleetJobs) nameOf(gid queue.GID, version string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, j := range f.own {
		if j.GID == gid && j.Version == version {
			return j.Name
		}
	}
	return ""
}

// Drop implements daemon.Jobs.
func (f *fleetJobs) Drop(ctx context.Context, j daemon.Job) error {
	return f.queue.Withdraw(ctx, fleet.KeyOf(j.Name), f.prefix+j.GID.String())
}

// follow asks workers how far they are, while one of them has a job of this daemon's.
func (f *fleetJobs) follow(ctx context.Context) {
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if f.active() {
			f.ask(ctx)
			f.signal()
		}
	}
}

func (f *fleetJobs) active() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, j := range f.own {
		if j.Status == queue.Active {
			return true
		}
	}
	return false
}

// ask asks the workers, unless they were asked a moment ago.
func (f *fleetJobs) ask(ctx context.Context) {
	f.mu.Lock()
	fresh := time.Since(f.asked) < askEvery/2
	f.mu.Unlock()
	if fresh {
		return
	}
	workers, err := f.queue.Workers(ctx)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.workers, f.asked = workers, time.Now()
}

// jobOf makes a job of an entry. Its name is its path below the root, which stands for the folder of the workers.
func (d *daemonCommand) jobOf(e queue.Entry) (fleet.Job, error) {
	listed := option.Entry{URIs: e.URIs, Options: option.Aria2Settings(e.Options)}
	switch {
	case e.Watch != "":
		return fleet.Job{}, problem.Misuse("watch "+e.Watch, "it is of a daemon with --watch",
			"braid watch --queue makes jobs of updates")
	case len(e.Document) > 0 || len(e.URIs) == 0:
		return fleet.Job{}, problem.Misuse("document", "is of the daemon, and a job has URLs",
			"braid daemon without --queue takes documents; or add the URL of the document")
	case isMagnet(e):
		return fleet.Job{}, problem.Misuse("magnet link", "its name is not known before it is here",
			"braid daemon without --queue takes it")
	case e.Options[daemon.OptionSignature] != "" || e.Options[daemon.OptionSelect] != "":
		return fleet.Job{}, problem.Misuse(job.MaskWord(e.URIs[0]),
			"signatures and numbers of files are for downloads of the daemon's own",
			"keys are those of workers: braid work --keyring FILE")
	}
	r, err := d.listed(listed, false)
	if err != nil {
		return fleet.Job{}, err
	}
	if asked := e.Options["dir"]; asked != "" && !filepath.IsAbs(asked) {
		r.Dir = filepath.Join(d.Root, r.Dir)
	}
	below, err := filepath.Rel(d.Root, r.Dir)
	if err != nil || !filepath.IsLocal(below) {
		return fleet.Job{}, outside(r.Dir, d.Root)
	}
	r.Dir = below
	return job.FleetJob(listed, &r)
}
