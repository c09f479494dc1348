package daemon

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"braid/daemon/queue"
)

// Jobs are a queue that other processes work at, in which each entry is a job. Put and Drop may block, the others do not.
type Jobs interface {
	// Changed returns a channel that receives when All has changed.
	Changed() <-chan struct{}
	// All returns the jobs of this daemon's entries; ok is false until all are known that there were.
	All() (jobs []Job, ok bool)
	// Put stores the job of an entry. A version is one job, however often it is put. After a *RefusedError no later try
	// can be better.
	Put(ctx context.Context, e queue.Entry, version string) error
	// Drop forgets a job, also one that a worker has, unless it is done. One that is not there is no error.
	Drop(ctx context.Context, j Job) error
}

// A Job is what is known of the job of an entry.
type Job struct {
	GID     queue.GID
	Name    string
	Version string
	// Status is Waiting, Active, Complete or Failed. Live is of an active or complete one, and Outcome of one that has ended.
	Status  queue.Status
	Live    queue.Live
	Outcome queue.Outcome
	// Unsent: a daemon that was killed may have stored the job and sent no message to workers. Then the entry is put again.
	Unsent bool
}

// A RefusedError says that an entry cannot be a job.
type RefusedError struct {
	Outcome queue.Outcome
}

func (e *RefusedError) Error() string { return e.Outcome.Message }

// versionOf is another one when an entry asks for something else than before, or the user wants another try of one that
// failed. It is made of what is on disk, so that a job that was put before the daemon was killed is found again.
func versionOf(e *queue.Entry) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(e.Options)) {
		fmt.Fprintf(sum, "%q %q\n", name, e.Options[name])
	}
	fmt.Fprintf(sum, "%q %q %d", e.URIs, e.Document, e.Outcome.Attempts)
	return fmt.Sprintf("%.8x", sum.Sum(nil))
}

const (
	// collectTime is for how long changes are collected before entries and jobs are compared.
	collectTime = 100 * time.Millisecond
	// putAgain is the wait after a failure to reach the jobs. mostPut is how many entries are put before all are compared again.
	putAgain = 2 * time.Second
	mostPut  = 500
)

// follow keeps entries and jobs alike until ctx ends: an entry that waits is a job, it is active while a worker has the
// job, and ends as the job does; one that is paused or removed is none. It goes by what both are and not by what
// happened, so that nothing is lost whenever it is killed.
func (d *Daemon) follow(ctx context.Context) {
	for {
		var again <-chan time.Time
		more, err := d.compare(ctx)
		switch {
		case err != nil:
			d.log.Warn("the jobs of entries cannot be reached, which is tried again", "error", d.config.Hide(err.Error()))
			again = time.After(putAgain)
		case more:
			again = time.After(0)
		}
		select {
		case <-again:
		case <-d.config.Jobs.Changed():
		case <-d.changed:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(collectTime):
		case <-ctx.Done():
			return
		}
	}
}

// compare makes entries and jobs alike once. It reports whether more entries are to be put.
func (d *Daemon) compare(ctx context.Context) (more bool, err error) {
	jobs, known := d.config.Jobs.All()
	if !known {
		return false, nil
	}
	var put []wanted
	var drop []Job
	if d.Do(ctx, func(q *queue.Queue) error {
		put, drop = settle(q, time.Now(), jobs)
		for i := range put {
			put[i].Options = optionsOf(q, &put[i].Entry)
		}
		return nil
	}) != nil {
		return false, nil // the daemon ends
	}
	for _, j := range drop {
		if err := d.config.Jobs.Drop(ctx, j); err != nil {
			return false, err
		}
	}
	for i := range put[:min(mostPut, len(put))] {
		if err := d.put(ctx, &put[i]); err != nil {
			return false, err
		}
	}
	return len(put) > mostPut, nil
}

// A wanted entry is one that is to be put.
type wanted struct {
	queue.Entry
	version string
}

// settle gives entries the states of their jobs. It returns the entries that are no jobs yet, or of which no worker may
// know, and the jobs that no entry wants. An entry whose job is tried again in the queue itself is tried again, too.
func settle(q *queue.Queue, now time.Time, jobs []Job) (put []wanted, drop []Job) {
	of := map[queue.GID]Job{}
	for _, j := range jobs {
		e, there := q.Entry(j.GID)
		if there && e.Status == queue.Failed && j.Status < queue.Complete && q.Resume(j.GID) == nil {
			e, _ = q.Entry(j.GID)
		}
		switch {
		case there && e.Status < queue.Paused && j.Version == versionOf(&e):
			of[j.GID] = j
		case j.Status == queue.Complete, there && e.Status == queue.Failed && j.Status == queue.Failed: // its evidence stays
		default:
			drop = append(drop, j)
		}
	}
	for _, list := range [][]queue.Entry{q.Active(), q.Waiting(0, 1<<30)} {
		for _, e := range list {
			j, is := of[e.GID]
			if e.Status == queue.Paused {
				continue
			}
			if is {
				adopt(q, now, &e, j)
			}
			if !is || j.Unsent {
				put = append(put, wanted{e, versionOf(&e)})
			}
		}
	}
	return put, drop
}

// adopt gives an entry the state of its job.
func adopt(q *queue.Queue, now time.Time, e *queue.Entry, j Job) {
	if j.Status == queue.Waiting {
		q.Ended(now, e.GID, queue.Outcome{Kind: queue.Interrupted}) // if it was active
		return
	}
	q.Begin(now, e.GID)
	q.Progress(e.GID, j.Live)
	if j.Status != queue.Active {
		j.Outcome.Attempts = 1
		q.Ended(now, e.GID, j.Outcome)
	}
}

// put makes a job of an entry. An entry that cannot be a job has failed, unless it has changed meanwhile.
func (d *Daemon) put(ctx context.Context, w *wanted) error {
	err := d.config.Jobs.Put(ctx, w.Entry, w.version)
	refused, ok := errors.AsType[*RefusedError](err)
	if !ok {
		return err
	}
	d.Do(ctx, func(q *queue.Queue) error {
		e, there := q.Entry(w.GID)
		if there && e.Status < queue.Paused && versionOf(&e) == w.version {
			adopt(q, time.Now(), &e, Job{Status: queue.Failed, Outcome: refused.Outcome, Live: queue.Live{Size: -1}})
		}
		return nil
	})
	return nil
}
