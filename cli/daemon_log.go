package cli

import (
	"context"
	"log/slog"
	"net/url"

	"braid/daemon"
	"braid/daemon/queue"
	"braid/source"
)

// tell logs what becomes of downloads, until the daemon ends.
func (d *daemonCommand) tell(ctx context.Context, engine *daemon.Daemon) {
	for ctx.Err() == nil {
		notices, end := engine.Subscribe() // which is closed if so many come that some are passed over
		for n := range notices {
			d.tellOf(ctx, engine, n)
		}
		end()
	}
}

func (d *daemonCommand) tellOf(ctx context.Context, engine *daemon.Daemon, n queue.Notice) {
	if n.What != queue.OnError && !d.log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	var e queue.Entry
	var there bool
	if err := engine.Do(ctx, func(q *queue.Queue) error { e, there = q.Entry(n.GID); return nil }); err != nil || !there {
		return
	}
	about := []any{"gid", n.GID.String(), "url", entryName(&e)}
	switch n.What {
	case queue.OnStart:
		d.log.Debug("download begins", about...)
	case queue.OnComplete:
		d.log.Debug("download is complete", append(about, "path", e.Path, "size", e.Size, "verified", e.Outcome.Verified)...)
	case queue.OnError:
		d.log.Warn("download failed", append(about, "error", e.Outcome.Message)...)
	}
}

// entryName is what an entry is called in a log: its URL, without what may be a secret in it.
func entryName(e *queue.Entry) string {
	if len(e.URIs) == 0 {
		return e.Path
	}
	u, err := url.Parse(e.URIs[0])
	if err != nil {
		return e.Path
	}
	return source.Mask(u)
}
