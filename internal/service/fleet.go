package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"braid/daemon"
	"braid/daemon/page"
	"braid/daemon/queue"
	"braid/download"
	"braid/fleet"
	"braid/internal/option"
	"braid/internal/plug/jetstream"
	"braid/internal/problem"
)

// FleetJobs implements daemon.Jobs: the entries of a daemon are jobs of a fleet. It also implements page.Fleet.
type FleetJobs struct {
	queue   *jetstream.Queue
	job     func(e queue.Entry) (fleet.Job, error)
	kind    func(code int) download.Kind // returns the kind with that exit code
	prefix  string                       // beginning of Watch in the jobs of this daemon, before the GID
	changed chan struct{}                // buffer of one

	mu      sync.Mutex
	whole   bool // all records from before the start have been received
	board   fleet.Board
	own     map[string]daemon.Job // by record key
	sent    map[queue.GID]string  // versions that were reported to the queue, by entry
	workers []fleet.Worker        // the workers' latest answers
	asked   time.Time
}

// askEvery is the interval between requests to workers for their state while a worker has a job of the daemon. The page
// causes requests at most twice as often.
const askEvery = 2 * time.Second

// NewFleetJobs returns the jobs of q that have a Watch with prefix. job returns the job for an entry. kind returns the
// kind of the problems with an exit code.
func NewFleetJobs(q *jetstream.Queue, prefix string, job func(queue.Entry) (fleet.Job, error),
	kind func(code int) download.Kind) *FleetJobs {
	f := &FleetJobs{
		queue: q, job: job, kind: kind, prefix: prefix,
		changed: make(chan struct{}, 1), own: map[string]daemon.Job{}, sent: map[queue.GID]string{},
	}
	q.Follow(f.apply)
	return f
}

// apply records a change of a record; see [jetstream.Queue.Follow].
func (f *FleetJobs) apply(key string, r *fleet.Record) {
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

// signal makes the daemon compare its entries with All.
func (f *FleetJobs) signal() {
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// jobIn returns the job in a record, and reports whether it belongs to this daemon. The record may be nil.
func (f *FleetJobs) jobIn(r *fleet.Record) (j daemon.Job, own bool) {
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
		j.Unsent = true // All clears Unsent if Put has reported this version
	case r.State == fleet.Running:
		j.Status, j.Live = queue.Active, liveOf(r.Lease.Holder, r.Progress)
	case r.State == fleet.Done && r.Good != nil:
		j.Status, j.Live = queue.Complete, queue.Live{Path: r.Good.Path, Done: r.Good.Size, Size: r.Good.Size}
		j.Outcome = queue.Outcome{Verified: r.Good.Proof}
	case r.State == fleet.Dead && e != nil:
		j.Status, j.Live = queue.Failed, queue.Live{Size: -1}
		why := fmt.Sprintf("%s (%s, the last by worker %s)", e.Why, option.Count(r.Tries, "try"), e.Worker)
		j.Outcome = deadOutcome(f.kind(e.Code), e, why)
	}
	return j, true
}

func liveOf(worker string, p fleet.Progress) queue.Live {
	return queue.Live{
		Done: p.Done, Size: p.Size, Speed: p.Speed, Connections: p.Sources, Worker: worker,
	}
}

// deadOutcome returns the outcome of a dead job. e is the ending of the last try. The code is the code that a daemon
// without a queue would report.
func deadOutcome(kind download.Kind, e *fleet.Ending, why string) queue.Outcome {
	return queue.Outcome{
		Kind: kind.String(), Code: cmp.Or(e.Aria2, problem.Aria2Code(&problem.Problem{Kind: kind})), Message: why,
		Hint: "correct the cause, and then use braid queue retry, or resume the download here",
	}
}

// Changed implements daemon.Jobs.
func (f *FleetJobs) Changed() <-chan struct{} { return f.changed }

// All implements daemon.Jobs.
func (f *FleetJobs) All() (jobs []daemon.Job, ok bool) {
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
func (f *FleetJobs) Look(ctx context.Context, most int) (s page.Standing, err error) {
	if _, err := f.queue.Unfinished(ctx); err != nil {
		return s, err
	}
	lost, err := f.queue.Lost(ctx)
	if err != nil && !jetstream.Newer(err) {
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
func (f *FleetJobs) Retry(ctx context.Context, name string) (bool, error) {
	return f.queue.Retry(ctx, fleet.KeyOf(name))
}

// Put implements daemon.Jobs.
func (f *FleetJobs) Put(ctx context.Context, e queue.Entry, version string) error {
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
			why = "another download (" + gid + ") has this file name"
		}
		err = problem.Misuse(j.Name, why, "choose another name with the option out, or wait for the other download")
	}
	if large, ok := errors.AsType[*jetstream.LargeError](err); ok {
		err = problem.Misuse(large.Job, large.Error(), "give fewer mirrors or shorter options")
	}
	if jetstream.Newer(err) { // refused, so that other entries do not wait for this entry
		err = &problem.Problem{
			Kind: download.Refused, What: "queue", Where: j.Name, Why: err.Error(), Hint: "update braid: a newer " +
				"version wrote the queue",
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

// nameOf returns the name of the job that an entry already has, or "". The name must not change when the daemon's
// folder changes.
func (f *FleetJobs) nameOf(gid queue.GID, version string) string {
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
func (f *FleetJobs) Drop(ctx context.Context, j daemon.Job) error {
	return f.queue.Withdraw(ctx, fleet.KeyOf(j.Name), f.prefix+j.GID.String())
}

// follow asks workers for their progress while a worker has a job of this daemon.
func (f *FleetJobs) follow(ctx context.Context) {
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

func (f *FleetJobs) active() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, j := range f.own {
		if j.Status == queue.Active {
			return true
		}
	}
	return false
}

// ask asks the workers for their progress, unless their last answers are fresh.
func (f *FleetJobs) ask(ctx context.Context) {
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
