package watch

import (
	"context"
	"fmt"

	"braid/antenna"
	"braid/daemon/queue"
	"braid/internal/option"
)

// describe sets Queued of the watches with unfinished entries.
func (w *Delegate) describe(ctx context.Context, watches []antenna.WatchStatus) error {
	return w.engine.Do(ctx, func(q *queue.Queue) error {
		words := map[string]string{}
		for _, g := range w.latest {
			if e, ok := q.Entry(g); ok {
				words[e.Watch+" "+e.URIs[0]] = queued(q, &e)
			}
		}
		for i := range watches {
			watches[i].Queued = words[watches[i].Name+" "+watches[i].URL]
		}
		return nil
	})
}

// queued describes the state of an entry. It returns "" for an entry that has stopped.
func queued(q *queue.Queue, e *queue.Entry) string {
	switch live, _ := q.Live(e.GID); {
	case e.Status == queue.Active && live.Size > 0:
		return fmt.Sprintf("downloads: %d %% of %s", option.Percent(live.Done, live.Size), option.SizeText(live.Size))
	case e.Status == queue.Active:
		return "downloads"
	case e.Status == queue.Paused:
		return "paused; continue with braid resume " + e.GID.String()
	case e.Status == queue.Waiting:
		return "waits in the queue of the daemon"
	}
	return ""
}
