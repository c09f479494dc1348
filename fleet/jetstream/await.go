package jetstream

import (
	"context"
	"errors"
	"time"

	"braid/fleet"
)

// awaitMost limits the time between two looks at an awaited job.
const awaitMost = 5 * time.Second

// ErrAbsent is the error of Await for a job that was dropped, or whose record is that of another job.
var ErrAbsent = errors.New("its job is no longer in the queue")

// Await blocks until a reported job is over, and returns its record, which is done or dead: Await stops a job that
// waits for its next try (see fleet.Record.Stop).
func (q *Queue) Await(ctx context.Context, j *fleet.Job) (r fleet.Record, err error) {
	id := j.ID()
	for began := time.Now(); ; {
		r, err = change(ctx, q.storage.jobs, j.Key(), func(r *fleet.Record) error {
			own := r.State != "" && r.Job.ID() == id
			switch {
			case !own && (r.Newer == nil || r.Newer.ID() != id):
				return ErrAbsent
			case own && r.Stop(q.clock.now()):
				return nil
			}
			return errSame
		})
		if err != nil && err != errSame || r.Job.ID() == id && (r.State == fleet.Done || r.State == fleet.Dead) {
			break
		}
		if err := rest(ctx, min(max(time.Since(began)/8, 50*time.Millisecond), awaitMost)); err != nil {
			return r, err
		}
	}
	if err == errSame {
		err = nil
	}
	return r, err
}
