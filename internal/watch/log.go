package watch

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"braid/antenna"
	"braid/antenna/feed"
	"braid/download"
	"braid/internal/hint"
	"braid/internal/job"
	"braid/internal/mask"
	"braid/internal/option"
)

// A ServiceLog is the log of a watcher. It escapes all external text. It removes the secrets of the
// configuration from all texts, because a server may send back what it received.
type ServiceLog struct {
	*slog.Logger
	level   slog.LevelVar
	rounds  bool // the watcher runs for one round only
	jobs    bool // updates become jobs, and each job has a line of its own
	secrets atomic.Pointer[mask.Hider]
}

// NewServiceLog returns the log of a service. Format is "text" or "json".
func NewServiceLog(w io.Writer, format string) *ServiceLog {
	l := &ServiceLog{}
	o := &slog.HandlerOptions{Level: &l.level, ReplaceAttr: l.replace}
	var h slog.Handler = slog.NewTextHandler(w, o)
	if format == "json" {
		h = slog.NewJSONHandler(w, o)
	}
	l.Logger = slog.New(h)
	return l
}

// CommandLog returns the log of a command that has the flags -q and -v.
func CommandLog(w io.Writer, format string, quiet, verbose bool) *ServiceLog {
	l := NewServiceLog(w, format)
	switch {
	case quiet:
		l.level.Set(slog.LevelWarn)
	case verbose:
		l.level.Set(slog.LevelDebug)
	}
	return l
}

// Configure sets the level and the secrets from c.
func (l *ServiceLog) Configure(c *Loaded) {
	l.level.Set(slog.LevelInfo)
	if c.Log.Level != "" {
		var level slog.Level
		if level.UnmarshalText([]byte(c.Log.Level)) == nil {
			l.level.Set(level)
		}
	}
	l.secrets.Store(c.Hider())
}

// Hider returns a Hider that removes the secrets of the configuration from texts.
func (c *Loaded) Hider() *mask.Hider { return mask.NewHider(c.Secrets) }

func (l *ServiceLog) replace(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value; v.Kind() {
	case slog.KindDuration:
		a.Value = slog.Float64Value(v.Duration().Round(time.Millisecond).Seconds())
	case slog.KindString:
		a.Value = slog.StringValue(l.Clean(v.String()))
	case slog.KindAny:
		switch any := v.Any().(type) {
		case nil, *slog.Source, slog.Level:
		case error:
			a.Value = slog.StringValue(l.Clean(any.Error()))
		default:
			a.Value = slog.StringValue(l.Clean(v.String()))
		}
	}
	return a
}

// Clean returns s without secrets, and escaped, as it appears in the log.
func (l *ServiceLog) Clean(s string) string {
	if r := l.secrets.Load(); r != nil {
		s = r.Replace(s)
	}
	return mask.Escape(s)
}

func (l *ServiceLog) event(ev antenna.Event) {
	switch ev := ev.(type) {
	case antenna.Polled:
		l.Debug("polled", "feed", ev.Feed, "status", ev.Status, "unchanged", ev.Unchanged, "bytes", ev.Bytes,
			"records", ev.Records,
			"matched", ev.Matched, "skipped", ev.Skipped, "took", ev.Took, "next", option.Stamp(ev.Next))
	case antenna.PollFailed:
		log := l.Logger
		if text := pollHint(ev.Err); text != "" {
			log = log.With("hint", text)
		}
		log.Warn("poll failed", "feed", ev.Feed, "error", ev.Err, "failures", ev.Failures, "next", option.Stamp(ev.Next))
	case antenna.Updated:
		u := &ev.Update
		l.Info("update", "watch", u.Watch, "url", job.MaskWord(u.URL), "feed", u.Feed,
			"reason", string(u.Reason), "words", u.Words)
	case antenna.Handled:
		if !l.jobs || ev.Err != nil {
			l.handled(&ev)
		}
	case antenna.NotReady:
		u := &ev.Update
		l.Info("not there yet", "watch", u.Watch, "version", u.Release.Version, "url", job.MaskWord(u.URL), "error", ev.Err,
			"next", option.Stamp(ev.Next))
	case antenna.Withdrawn:
		l.Info("a version that was not ready is no longer reported or wanted", "watch", ev.Watch, "version", ev.Release.Version)
	case antenna.Skipped:
		level := slog.LevelDebug
		switch ev.Why {
		case antenna.DailyLimit, antenna.TooMany:
			level = slog.LevelWarn
		case antenna.FreshReport:
		default:
			if !l.rounds || ev.Why == antenna.Unordered { // a round logs the reason at its end
				level = slog.LevelInfo
			}
		}
		l.Log(context.Background(), level, "skipped", "feed", ev.Feed, "watch", ev.Watch, "why", string(ev.Why),
			"until", option.Stamp(ev.Until))
	case antenna.NoneFits:
		l.Warn("no URL of the feed matches the watch", "feed", ev.Feed, "watch", ev.Watch, "urls", ev.URLs, "example", ev.Example)
	case antenna.TokenRefused:
		l.With("hint", job.TokenHint).Warn("the server rejected the token: polling the feed without it", "feed", ev.Feed)
	case antenna.StoreLost:
		l.Warn("the store of known updates was lost", "why", ev.Why, "aside", ev.Aside, "restored", ev.Restored)
	case antenna.Published:
		if ev.Err != nil {
			l.Error("publish", "error", ev.Err)
		}
	}
}

func (l *ServiceLog) handled(ev *antenna.Handled) {
	u, o := &ev.Update, &ev.Outcome
	log := l.With("watch", u.Watch, "url", job.MaskWord(u.URL), "try", u.Try, "took", ev.Took)
	if e, ok := errors.AsType[*download.Error](ev.Err); ok {
		if e.Kind == download.Interrupted {
			log.Info("interrupted", "kept", e.Kept)
			return
		}
		if e.Hint != "" {
			log = log.With("hint", watchHint(e))
		}
	}
	switch {
	case ev.Err != nil:
		log.Error("failed", "error", ev.Err, "next", option.Stamp(ev.Next))
	case o.Declined:
		log.Info("not downloaded: the user removed this version from the queue")
	case o.Changed:
		log.Info("new version", "path", o.Path, "size", o.Size, "bytes", o.Bytes, "evidence", cmp.Or(o.Evidence, "unverified"))
	case ev.Ahead:
		log.Info("the server does not have the reported version yet", "feed", u.Feed, "next", option.Stamp(ev.Next))
	default:
		log.Info("nothing new", "path", o.Path)
	}
}

// limitKeys maps the code of a rejected feed to the key of [feed.NAME.limits] that sets the exceeded limit.
var limitKeys = map[string]string{
	"too-large": "bytes (or value, for one value of SOIF)", "too-many-entries": "entries", "line-too-long": "line",
	"compressed-too-well": "ratio",
}

// pollHint returns a hint for a feed that exceeds a limit.
func pollHint(err error) string {
	if reject, ok := errors.AsType[*feed.RejectError](err); ok && limitKeys[reject.Code] != "" {
		return "raise the limit " + limitKeys[reject.Code] + " in [feed.NAME.limits]"
	}
	return ""
}

// watchHint returns the hint of an error for a watch. The keys of a configuration have the names of the flags. It never
// advises no-lookup: a list that contradicts the file may match it once the server has both completely.
func watchHint(e *download.Error) string {
	if e.Hint == download.HintNoLookup {
		return "the server may not have the whole file or its list yet: it is tried again"
	}
	text := hint.Of(e)
	if strings.Contains(text, "--sha256") { // a watched file changes
		return `accept the file unverified with require = "none"`
	}
	return strings.ReplaceAll(text, "--", "")
}

// A roundTally counts the results of a round.
type roundTally struct {
	polls, failedPolls, updates, failedUpdates, versions int
	// failed has the feeds and watches whose failure was logged.
	failed map[string]bool
}

func (t *roundTally) add(ev antenna.Event) {
	if t.failed == nil {
		t.failed = map[string]bool{}
	}
	switch ev := ev.(type) {
	case antenna.Polled:
		t.polls++
	case antenna.PollFailed:
		t.polls++
		t.failedPolls++
		t.failed[ev.Feed] = true
	case antenna.Handled:
		t.updates++
		if ev.Err != nil {
			t.failedUpdates++
			t.failed[ev.Update.Watch] = true
		} else if ev.Outcome.Changed {
			t.versions++
		}
	}
}

// round logs the results of a round. It also logs why a watch has no file, if nothing was logged about that watch,
// because a user may be waiting for the file. If a feed could not be read, round logs nothing about a watch without a
// report: that feed may have the report, and its failure was logged.
func (l *ServiceLog) round(t *roundTally, s antenna.Status) {
	unread := slices.ContainsFunc(s.Feeds, func(f antenna.FeedStatus) bool { return f.Err != "" })
	for _, w := range s.Watches {
		switch {
		case w.Reason == antenna.Unfit, w.Reason == antenna.Unread, w.Release != nil: // logged before
		case w.Reason == antenna.Excluded:
			l.Info(w.Words, "watch", w.Name)
		case w.HaveCopy || w.Pending || !w.Last.At.IsZero(), unread && w.Reason == "":
		case w.Reason == "" || w.Reason == feed.NotInFeed:
			l.Info("no feed reports this URL", "watch", w.Name, "url", w.URL, "hint",
				"to check the URL itself, set check-every, or use braid watch run NAME")
		default:
			l.Info("the feeds report nothing usable about this URL", "watch", w.Name, "url", w.URL, "reason", string(w.Reason))
		}
	}
	var next time.Time
	for _, f := range s.Feeds {
		if next.IsZero() || f.Next.Before(next) {
			next = f.Next
		}
	}
	l.Info("checked once", "polls", t.polls, "failed-polls", t.failedPolls, "updates", t.updates, "failed-updates",
		t.failedUpdates,
		"new-versions", t.versions, "next", option.Stamp(next))
}
