package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"braid/fleet"
)

// All returns all records.
func (q *Queue) All(ctx context.Context) (all []fleet.Record, err error) {
	w, err := q.jobs.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, err
	}
	defer w.Stop()
	for {
		select {
		case e := <-w.Updates():
			if e == nil {
				return all, nil
			}
			var r fleet.Record
			if err := json.Unmarshal(e.Value(), &r); err != nil {
				return nil, fmt.Errorf("job %s: %w", e.Key(), err)
			}
			all = append(all, r)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Retry queues a job again that is dead or waits, and reports whether it was one.
func (q *Queue) Retry(ctx context.Context, key string) (bool, error) {
	r, err := change(ctx, q.jobs, key, func(r *fleet.Record) error {
		if !r.Retry(q.now()) {
			return errSame
		}
		return nil
	})
	if err == errSame {
		return false, nil
	}
	if err == nil {
		err = q.wake(ctx, &r)
	}
	return err == nil, err
}

// Drop forgets a job that no worker has. Its evidence goes with it. It reports whether there was one.
func (q *Queue) Drop(ctx context.Context, key string) (bool, error) {
	for {
		r, revision, err := read[fleet.Record](ctx, q.jobs, key)
		if err != nil || revision == 0 || r.State == fleet.Running {
			return false, err
		}
		err = q.jobs.Delete(ctx, key, jetstream.LastRevision(revision))
		if !errors.Is(err, jetstream.ErrKeyExists) {
			return err == nil, err
		}
	}
}

// Pause has workers take no more jobs, or take them again.
func (q *Queue) Pause(ctx context.Context, paused bool) error {
	if !paused {
		return q.leases.Delete(ctx, keyPaused)
	}
	_, err := q.leases.Put(ctx, keyPaused, []byte(q.name))
	return err
}

// Paused reports whether workers take no more jobs.
func (q *Queue) Paused() bool { return q.paused.Load() }

// watching calls f for each value of keys, now and when it changes, until the queue is closed.
func (q *Queue) watching(bucket jetstream.KeyValue, keys string, f func(jetstream.KeyValueEntry)) {
	for q.open.Err() == nil {
		if w, err := bucket.Watch(q.open, keys); err == nil {
			q.watchingBy(w, f)
		}
		rest(q.open, time.Second)
	}
}

func (q *Queue) watchingBy(w jetstream.KeyWatcher, f func(jetstream.KeyValueEntry)) {
	defer w.Stop()
	for {
		select {
		case <-q.open.Done(): // which does not always end the updates
			return
		case e, more := <-w.Updates():
			if !more {
				return
			}
			if e != nil {
				f(e)
			}
		}
	}
}

// Offset is how far the clock of the queue is from that of this machine.
func (q *Queue) Offset() time.Duration { return time.Duration(q.offset.Load()) }
