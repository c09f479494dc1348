package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"braid/antenna"
	"braid/download"
	"braid/fleet"
	"braid/internal/web"
)

// handler returns the handler of updates.
func (s *service) handler(now *setup) antenna.Handler {
	if s.Fleet == nil {
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
		if err := s.report(ctx, &job); err != nil {
			return mayBePlaced(&u, &job), err
		}
		if u.Release == nil {
			o := u.Last
			o.Changed, o.At = true, time.Now()
			return o, nil
		}
		o, err := s.awaitJob(ctx, c.Command, rule, &u, &job)
		if err == nil {
			s.log.Info("in place", "watch", u.Watch, "job", job.Name, "version", u.Release.Version, "changed", o.Changed)
		}
		return o, err
	}
}

// report reports a job to the queue.
func (s *service) report(ctx context.Context, job *fleet.Job) error {
	f := s.Fleet
	select {
	case f.reports <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-f.reports }()
	news, err := f.Queue.Report(ctx, *job)
	if err != nil {
		return err
	}
	f.tally.add(news.String(), 1)
	s.log.Info("job", "watch", job.Watch, "job", job.Name, "version", job.Version, "is", news.String())
	return nil
}

// awaitJob blocks until the job of a release is over. Nothing is lost if this watcher or a worker ends meanwhile: the
// queue keeps the result, the update is delivered again, and reporting an update again does not change an unfinished
// job.
func (s *service) awaitJob(ctx context.Context, c *Command, r *Rule, u *antenna.Update, job *fleet.Job) (antenna.Outcome, error) {
	now, err := s.Fleet.Queue.Await(ctx, job)
	if err != nil {
		return mayBePlaced(u, job), err
	}
	if e := now.Good; now.State == fleet.Done && e != nil {
		return antenna.Outcome{
			Changed: isOtherVersion(u) || e.SHA256 != u.Last.Digest,
			ETag:    e.ETag, LastModified: e.LastModified, Host: e.Host, Size: e.Size, Digest: e.SHA256, Evidence: e.Proof,
			ModTime: e.ModTime, Bytes: e.Fetched, At: e.At, Fleeting: e.Fleeting,
		}, nil
	}
	return antenna.Outcome{}, c.errorOf(ctx, r, u, job, now.Last)
}

// mayBePlaced returns the outcome of a failed update whose job may still put the file in place.
func mayBePlaced(u *antenna.Update, job *fleet.Job) (o antenna.Outcome) {
	if u.Release != nil {
		o.Path = job.Name
	}
	return o
}

// errorOf returns the error of a job that ended with e. It adds the requests of the worker to those of the update.
func (c *Command) errorOf(ctx context.Context, r *Rule, u *antenna.Update, job *fleet.Job, e *fleet.Ending) error {
	if e == nil { // another program stored the record of the job
		return fmt.Errorf("the job %s ended, but the queue does not record how", job.Name)
	}
	web.TallyOf(ctx).AddAll(e.Requests)
	kind := c.Kind(e.Code)
	if kind == download.Mismatch && !isOtherVersion(u) && !r.Releases.Moving {
		return replaced(u, job.Name, errors.New(e.Why))
	}
	err := error(&download.Error{Kind: kind, What: "job", Where: job.Name, Err: errors.New(e.Why)})
	if e.Missing {
		err = &antenna.NotYet{Err: err, After: e.After}
	}
	return err
}
