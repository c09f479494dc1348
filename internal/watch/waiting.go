package watch

import (
	"context"

	"braid/antenna"
	"braid/daemon"
	"braid/daemon/queue"
	"braid/internal/problem"
)

// dropWaiting removes the failed entry of s from the queue of engine, if u is an update to a release that is not ready and
// will be tried again.
func dropWaiting(ctx context.Context, engine *daemon.Daemon, u *antenna.Update, s stopped) {
	if _, late := problem.Missing(s.err); late && u.Release != nil && !u.LastTry {
		engine.Do(ctx, func(q *queue.Queue) error { return forgetFailed(q, s.GID) }) // fails if the engine has ended
	}
}

// forgetFailed removes the entry g from the queue if it failed. An entry that the user removed meanwhile stays.
func forgetFailed(q *queue.Queue, g queue.GID) error {
	if e, there := q.Entry(g); !there || e.Status != queue.Failed {
		return nil
	}
	return q.Forget(g)
}
