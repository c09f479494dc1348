package cli

import (
	"context"
	"log/slog"
	"net/url"
	"os"
	"time"

	"braid/daemon"
	"braid/daemon/queue"
	"braid/download"
	"braid/internal/job"
	"braid/internal/watch"
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

// attend does what the system asks for beside downloads: it keeps what was learned, is alive, and reads the settings anew.
func (d *daemonCommand) attend(ctx context.Context, engine *daemon.Daemon, client *download.Client, hup <-chan os.Signal) {
	alive := time.NewTicker(min(max(d.notify.Watchdog()/4, time.Second), watch.RememberEvery))
	if d.notify.Watchdog() <= 0 {
		alive.Reset(watch.RememberEvery)
	}
	defer alive.Stop()
	saved := time.Now()
	for {
		select {
		case <-ctx.Done():
			d.notified(d.notify.Stopping())
			return
		case now := <-alive.C:
			if engine.Do(ctx, func(*queue.Queue) error { return nil }) == nil { // else the watchdog bites
				d.notified(d.notify.Alive())
			}
			if now.Sub(saved) >= watch.RememberEvery {
				saved = now
				client.State.Save()
			}
		case <-hup:
			d.reload()
		}
	}
}

// reload reads what the settings say of sites. Settings that are wrong are told of, and change nothing.
func (d *daemonCommand) reload() {
	d.notified(d.notify.Reloading())
	conf, err := job.ReadSettings()
	if err != nil {
		d.log.Error("the settings stay as they were", "error", err)
	} else {
		d.mu.Lock()
		d.unfollow()
		conf.Said, conf.Line = d.Job.HTTP.Sites.Settings.Said, d.Job.HTTP.Sites.Settings.Line
		d.Job.HTTP.Sites = job.NewSites(conf)
		d.follow()
		d.mu.Unlock()
		d.log.Info("the settings were read anew")
	}
	d.notified(d.notify.Ready(""))
}

func (d *daemonCommand) notified(err error) {
	if err != nil {
		d.log.Warn("sd_notify", "error", err)
	}
}
