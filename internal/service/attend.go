package service

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

// tell logs the start and end of downloads until ctx is done.
func (s *Service) tell(ctx context.Context, engine *daemon.Daemon) {
	for ctx.Err() == nil {
		notices, end := engine.Subscribe() // notices is closed if notices were lost because too many were unread
		for n := range notices {
			s.tellOf(ctx, engine, n)
		}
		end()
	}
}

func (s *Service) tellOf(ctx context.Context, engine *daemon.Daemon, n queue.Notice) {
	if n.What != queue.OnError && !s.Log.Enabled(ctx, slog.LevelDebug) {
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
		s.Log.Debug("download begins", about...)
	case queue.OnComplete:
		s.Log.Debug("download is complete", append(about, "path", e.Path, "size", e.Size, "verified", e.Outcome.Verified)...)
	case queue.OnError:
		s.Log.Warn("download failed", append(about, "error", e.Outcome.Message)...)
	}
}

// entryName returns the name of an entry for the log: its first URL without secrets, or its path.
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

// attend does the periodic work beside downloads until ctx is done: it saves the state of the client, resets the
// watchdog, and reloads the settings after SIGHUP.
func (s *Service) attend(ctx context.Context, engine *daemon.Daemon, client *download.Client, hup <-chan os.Signal) {
	alive := time.NewTicker(min(max(s.Notify.Watchdog()/4, time.Second), watch.RememberEvery))
	if s.Notify.Watchdog() <= 0 {
		alive.Reset(watch.RememberEvery)
	}
	defer alive.Stop()
	saved := time.Now()
	for {
		select {
		case <-ctx.Done():
			s.notified(s.Notify.Stopping())
			return
		case now := <-alive.C:
			// If the loop hangs, no report is sent, and the watchdog ends the process.
			if engine.Do(ctx, func(*queue.Queue) error { return nil }) == nil {
				s.notified(s.Notify.Alive())
			}
			if now.Sub(saved) >= watch.RememberEvery {
				saved = now
				client.State.Save()
			}
		case <-hup:
			s.reload()
		}
	}
}

// reload reads the settings of sites again. If the file is invalid, it logs the error and changes nothing.
func (s *Service) reload() {
	s.notified(s.Notify.Reloading())
	conf, err := job.ReadSettings()
	if err != nil {
		s.Log.Error("the settings are unchanged", "error", err)
	} else {
		s.mu.Lock()
		s.unfollow()
		conf.Said, conf.Line = s.Job.HTTP.Sites.Settings.Said, s.Job.HTTP.Sites.Settings.Line
		s.Job.HTTP.Sites = job.NewSites(conf)
		s.follow()
		s.mu.Unlock()
		s.Log.Info("the settings were reloaded")
		if text := conf.Warning(); text != "" {
			s.Log.Warn("settings", "warning", text)
		}
	}
	s.notified(s.Notify.Ready(""))
}

func (s *Service) notified(err error) {
	if err != nil {
		s.Log.Warn("sd_notify", "error", err)
	}
}
