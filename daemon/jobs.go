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

// Jobs is a queue of jobs for other processes. Each entry of the daemon's queue becomes a job. Put and Drop may block;
// the other methods do not.
type Jobs interface {
	// Changed returns a channel that receives a value when the result of All has changed.
	Changed() <-chan struct{}
	// All returns the jobs of this daemon's entries. ok is false until all stored jobs have been read.
	All() (jobs []Job, ok bool)
	// Put stores e as a job. It has no effect if the job is stored with the same version. A *RefusedError means that no
	// later attempt can succeed.
	Put(ctx context.Context, e queue.Entry, version string) error
	// Drop deletes a job that is not done, even if a worker is working on it. It returns nil if the job does not exist.
	Drop(ctx context.Context, j Job) error
}

// A Job is the known state of the job for an entry.
type Job struct {
	GID     queue.GID
	Name    string
	Version string
	// Status is Waiting, Active, Complete or Failed. Live is set for an active or complete job, and Outcome for a job
	// that has ended.
	Status  queue.Status
	Live    queue.Live
	Outcome queue.Outcome
	// Unsent reports that workers may not know of the job, because a daemon was killed after it stored the job and
	// before it sent the message to workers. The entry must be put again.
	Unsent bool
}

// A RefusedError reports that an entry cannot become a job. Outcome is the outcome for the entry.
type RefusedError struct {
	Outcome queue.Outcome
}

func (e *RefusedError) Error() string { return e.Outcome.Message }

// versionOf returns a version of e that changes with its URIs, document and options, and when the user adds an entry with
// the same GID again or retries e after a failure. It depends on stored fields alone, so that a daemon recognizes the
// jobs that it put before it was killed.
func versionOf(e *queue.Entry) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(e.Options)) {
		fmt.Fprintf(sum, "%q %q\n", name, e.Options[name])
	}
	fmt.Fprintf(sum, "%q %q %d %d", e.URIs, e.Document, e.Outcome.Attempts, e.Added.UnixNano())
	return fmt.Sprintf("%.8x", sum.Sum(nil))
}

const (
	// collectTime is how long changes are collected before entries and jobs are compared.
	collectTime = 100 * time.Millisecond
	// putAgain is the pause after an error of Jobs. mostPut limits the entries that are put after one comparison.
	putAgain = 2 * time.Second
	mostPut  = 500
)

// follow keeps entries and jobs consistent until ctx is done. Each waiting or active entry has a job. The entry becomes
// active when a worker takes the job, and stops when the job ends. A paused or removed entry has no job. follow
// compares states instead of reacting to events, so that no change is lost if the process is killed.
func (d *Daemon) follow(ctx context.Context) {
	for {
		var again <-chan time.Time
		more, err := d.compare(ctx)
		switch {
		case err != nil:
			d.log.Warn("the job queue cannot be reached; retrying", "error", d.config.Hide(err.Error()))
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

// compare makes entries and jobs consistent once. more reports that some entries are left for the next call to put.
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
		return false, nil // the daemon has stopped
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

// A wanted is an entry that must be put, with its version.
type wanted struct {
	queue.Entry
	version string
}

// settle updates the entries of q from the states of their jobs. put has the entries without a job that workers know.
// drop has the jobs without an entry. A failed entry is resumed if its job is tried again.
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
		// Keep this job: it records how the download ended.
		case j.Status == queue.Complete, there && e.Status == queue.Failed && j.Status == queue.Failed:
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

// adopt gives the entry e the state of its job j.
func adopt(q *queue.Queue, now time.Time, e *queue.Entry, j Job) {
	if j.Status == queue.Waiting {
		q.Ended(now, e.GID, queue.Outcome{Kind: queue.Interrupted}) // no effect unless the entry was active
		return
	}
	q.Begin(now, e.GID)
	q.Progress(e.GID, j.Live)
	if j.Status != queue.Active {
		j.Outcome.Attempts = 1
		q.Ended(now, e.GID, j.Outcome)
	}
}

// put puts the job for w. If the job is refused, the entry fails, unless it has changed since the comparison.
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
