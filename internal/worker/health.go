package worker

import (
	"context"
	"time"

	"braid/fleet"
)

// ended records the end of an attempt at the job with that key in the health of the worker.
func (w *Worker) ended(key string, k fleet.Kind, others bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.health.Own() && k != fleet.Failed {
		w.log.Info("jobs no longer fail")
	}
	w.health.Ended(key, k, others)
}

// fit waits until the worker may take another job. If the worker itself is faulty, it pauses and runs only one job at a
// time. The caller must have a slot of room. The error is that of ctx.
func (w *Worker) fit(ctx context.Context, room chan struct{}) error {
	w.mu.Lock()
	own := w.health.Own()
	w.mu.Unlock()
	if own {
		if err := w.idle(ctx, room); err != nil {
			return err
		}
	}
	for {
		w.mu.Lock()
		pause, keys := w.health.Pause()
		own := w.health.Own()
		w.mu.Unlock()
		if pause == 0 {
			return nil
		}
		if err := w.pause(ctx, pause, own); err != nil {
			return err
		}
		records, err := w.queue.Records(ctx, keys)
		if err != nil {
			w.log.Debug("queue", "error", err)
		}
		w.mu.Lock()
		w.health.Judge(w.queue.Name(), records)
		own = w.health.Own() && !own
		w.mu.Unlock()
		if own {
			w.log.Warn("jobs that failed here succeed on other workers: this one now takes one job at a time, with pauses")
		}
	}
}

// idle waits until no download runs. The caller must have a slot of room.
func (w *Worker) idle(ctx context.Context, room chan struct{}) error {
	for range cap(room) - 1 {
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// pause waits for the duration d. The worker takes no job during that time.
func (w *Worker) pause(ctx context.Context, d time.Duration, own bool) error {
	if own {
		w.log.Warn("pauses, because its jobs fail", "for", d)
	} else {
		w.log.Info("pauses, because its jobs fail", "for", d)
	}
	w.count(CountPauses, 1)
	w.count(CountPaused, 1)
	defer w.count(CountPaused, -1)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
