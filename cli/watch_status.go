package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"braid/antenna"
	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/render"
	"braid/internal/watch"
	"braid/source"
)

// runStatus shows the state of feeds and watches: the state of the running watcher, or else the stored state.
func (v *watchCommand) runStatus(ctx context.Context, words []string) error {
	c, err := v.load(words, toAsk)
	if err != nil {
		return err
	}
	status, pid, err := watch.Client{Dir: c.Folder}.Status(ctx)
	if errors.Is(err, watch.ErrNotRunning) {
		status, err = v.watcher().Stored(ctx, c)
	}
	if err != nil {
		return controlFailure(ctx, c, err)
	}
	if v.JSON {
		return v.statusJSON(status, pid)
	}
	_, err = fmt.Fprint(v.out, statusText(status, pid, time.Now()))
	return outputFailure(err)
}

func controlFailure(ctx context.Context, c *watch.Loaded, err error) error {
	if f, ok := errors.AsType[*problem.Problem](err); ok {
		return f
	}
	return &problem.Problem{Kind: download.Other, What: "watch", Where: c.Folder, Why: source.Escape(err.Error())}
}

// runVerb makes the running watcher check or forget the feed or watch with that name. If no watcher is running, this
// process does it.
func (v *watchCommand) runVerb(ctx context.Context, verb, name string, words []string) error {
	c, err := v.load(words, toAsk)
	if err != nil {
		return err
	}
	unknown := problem.Misuse("watch "+verb+" "+name, "no feed or watch has this name",
		"list the feeds and watches with braid watch status")
	if !c.Has(name) && verb != "forget" { // stored state may have a name that is no longer configured
		return unknown
	}
	client := watch.Client{Dir: c.Folder}
	ask, told := client.RunNow, "the watcher (process %d) now polls for %s; braid watch status shows the result\n"
	if verb == "forget" {
		ask, told = client.Forget, "the watcher (process %d) has deleted the state of %s\n"
	}
	pid, err := ask(ctx, name)
	switch {
	case err == nil:
		_, err = fmt.Fprintf(v.out, told, pid, source.Escape(name))
		return outputFailure(err)
	case !errors.Is(err, watch.ErrNotRunning) && !c.Has(name):
		return unknown
	case !errors.Is(err, watch.ErrNotRunning):
		return controlFailure(ctx, c, err)
	case verb == "run":
		if c, err = v.load(words, toWatch); err != nil {
			return err
		}
		return v.watch(ctx, c, []string{name})
	}
	if err := v.watcher().ForgetStored(ctx, c, name); err != nil {
		if !c.Has(name) {
			return unknown
		}
		return controlFailure(ctx, c, err)
	}
	_, err = fmt.Fprintf(v.out, "the state of %s is deleted\n", source.Escape(name))
	return outputFailure(err)
}

func statusText(s antenna.Status, pid int, now time.Time) string {
	var b strings.Builder
	if pid == 0 {
		b.WriteString("no watcher is running; last saved state\n")
	} else {
		fmt.Fprintf(&b, "a watcher is running (process %d)\n", pid)
	}
	rows := [][]string{{"FEED", "LAST POLL", "LAST NEWS", "NEXT POLL", "TODAY", "STATE"}}
	for _, f := range s.Feeds {
		state := "ok"
		switch {
		case f.Err != "":
			state = fmt.Sprintf("failed %s: %s", option.Count(f.Failures, "time"), f.Err)
		case f.Polled.IsZero():
			state = "not polled yet"
		}
		today, name := fmt.Sprintf("%d, %s", f.Updates, option.SizeText(f.Bytes)), f.Name
		if f.Kind == antenna.Page { // a page may have the same name as a feed
			name += " (itself)"
		}
		rows = append(rows, []string{name, ago(f.Polled, now), ago(f.Changed, now), until(f.Next, now), today, state})
	}
	b.WriteByte('\n')
	writeRows(&b, rows)
	rows = [][]string{{"WATCH", "LAST ASKED", "LAST DOWNLOAD", "NEXT TRY", "SIZE", "STATE"}}
	states := watch.States(&s)
	for i, w := range s.Watches {
		next, size := "", ""
		if at := watch.NextTry(&w); !at.IsZero() {
			next = until(at, now)
		}
		if w.Last.Size > 0 {
			size = option.SizeText(w.Last.Size)
		}
		rows = append(rows, []string{w.Name, ago(w.Asked(), now), ago(w.Last.ModTime, now), next, size, states[i]})
	}
	b.WriteByte('\n')
	writeRows(&b, rows)
	return b.String()
}

func writeRows(b *strings.Builder, rows [][]string) {
	for _, row := range rows {
		for i, cell := range row {
			row[i] = source.Escape(cell)
		}
	}
	writeLines(b, render.Columns(rows))
}

// ago formats the time from t to now.
func ago(t, now time.Time) string {
	switch d := now.Sub(t); {
	case t.IsZero():
		return "never"
	case d < time.Second:
		return "just now"
	default:
		return option.TimeText(d.Round(time.Second)) + " ago"
	}
}

// until formats the time from now to t.
func until(t, now time.Time) string {
	switch d := t.Sub(now); {
	case t.IsZero():
		return "now"
	case d < time.Second:
		return "now"
	default:
		return "in " + option.TimeText(d.Round(time.Second))
	}
}

// feedLine is the state of a feed. Unknown times are omitted.
type feedLine struct {
	render.Head
	PID      int        `json:"pid,omitempty"`
	Name     string     `json:"name"`
	URL      string     `json:"url"`
	Kind     string     `json:"kind"`
	Polled   *time.Time `json:"polled,omitempty"`
	Changed  *time.Time `json:"changed,omitempty"`
	Next     *time.Time `json:"next,omitempty"`
	Interval float64    `json:"interval,omitempty"` // seconds
	Failures int        `json:"failures,omitempty"`
	Error    string     `json:"error,omitempty"`
	Updates  int        `json:"updates_today"`
	Bytes    int64      `json:"bytes_today"`
}

// watchLine is the state of a watched file. Unknown times are omitted.
type watchLine struct {
	render.Head
	PID        int        `json:"pid,omitempty"`
	Name       string     `json:"name"`
	URL        string     `json:"url"`
	Reason     string     `json:"reason,omitempty"`
	Words      string     `json:"words,omitempty"`
	HaveCopy   bool       `json:"have_copy"`
	Path       string     `json:"path,omitempty"`
	Gone       bool       `json:"gone,omitempty"` // the file at path no longer exists
	Size       int64      `json:"size,omitempty"`
	SHA256     string     `json:"sha256,omitempty"`
	Evidence   string     `json:"evidence,omitempty"`
	Asked      *time.Time `json:"asked,omitempty"`
	Downloaded *time.Time `json:"downloaded,omitempty"`
	Pending    bool       `json:"pending"`
	Running    bool       `json:"running,omitempty"` // the update is being handled now
	Try        int        `json:"try,omitempty"`
	Next       *time.Time `json:"next,omitempty"`
	Error      string     `json:"error,omitempty"`
	Queued     string     `json:"queued,omitempty"`   // state in the queue of a daemon, as text
	Declined   bool       `json:"declined,omitempty"` // the last version was removed from that queue
	// Only for a release watch: the release at URL, its state, and the newest release in the feeds.
	Version  string     `json:"version,omitempty"`
	Tag      string     `json:"tag,omitempty"`
	Stage    string     `json:"stage,omitempty"` // update, waiting, resting, in-place, given-up, unwanted
	NotReady string     `json:"not_ready,omitempty"`
	Since    *time.Time `json:"since,omitempty"`
	Newest   string     `json:"newest,omitempty"`
	// Why the feeds report no version any more, if a version is in place.
	Unreported string `json:"unreported,omitempty"`
	// The number of tags in the feeds that cannot be part of a URL, and the beginning of one of them.
	InvalidTags int    `json:"invalid_tags,omitempty"`
	InvalidTag  string `json:"invalid_tag,omitempty"`
}

func (v *watchCommand) statusJSON(s antenna.Status, pid int) error {
	lines, now := render.NewJSONWriter(v.out), time.Now()
	follows := map[string]antenna.FollowStatus{}
	for _, f := range s.Follows {
		follows[f.Name] = f
	}
	for _, f := range s.Feeds {
		lines.Write(feedLine{
			Head: render.NewHead(now, "feed"), PID: pid, Name: f.Name, URL: f.URL, Kind: f.Kind.String(),
			Polled: whenKnown(f.Polled), Changed: whenKnown(f.Changed),
			Next: whenKnown(f.Next), Interval: f.Interval.Seconds(), Failures: f.Failures, Error: f.Err,
			Updates: f.Updates, Bytes: f.Bytes,
		})
	}
	for _, w := range s.Watches {
		o := &w.Last
		line := watchLine{
			Head: render.NewHead(now, "watch"), PID: pid, Name: w.Name, URL: w.URL, Reason: string(w.Reason), Words: w.Words,
			HaveCopy: w.HaveCopy,
			Path:     o.Path, Gone: watch.IsGone(&w), Size: o.Size, SHA256: o.Digest, Evidence: o.Evidence,
			Asked: whenKnown(w.Asked()), Downloaded: whenKnown(o.ModTime), Next: whenKnown(watch.NextTry(&w)),
			Pending: w.Pending, Running: w.Running, Try: w.Try, Error: w.Err, Queued: w.Queued, Declined: o.Declined,
			InvalidTags: follows[w.Name].Invalid, InvalidTag: follows[w.Name].InvalidTag,
		}
		if r := w.Release; r != nil {
			line.Version, line.Tag, line.Stage, line.NotReady = r.Version, r.Tag, r.Stage, r.Why
			line.Since, line.Newest, line.Unreported = whenKnown(r.Since), r.Newest, r.Unreported
		}
		lines.Write(line)
	}
	return outputFailure(lines.Err())
}

// whenKnown returns t for JSON, or nil if t is zero.
func whenKnown(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Second)
	return &t
}

// runCheck reports the faults of a configuration: the errors that a start or a reload would report, and settings
// without effect. It sends no request and changes nothing.
func (v *watchCommand) runCheck(ctx context.Context, words []string) error {
	c, err := v.load(words, toWatch)
	if err != nil {
		return err
	}
	if err := watch.Check(c); err != nil {
		return err
	}
	where := c.File
	if where == "" {
		where = "watch"
	}
	hide := c.Hider()
	warnings, found := c.Warnings(), "no errors"
	for _, w := range c.Watches {
		if w.Priority != "" {
			warnings = append(warnings, "watch."+w.Name+".priority: applies only to jobs in a queue: braid watch "+
				"without --queue refuses this configuration")
		}
	}
	for _, text := range warnings {
		fmt.Fprintln(v.err, source.Escape(hide.Replace("braid: warning "+where+": "+text)))
	}
	for _, text := range v.explain(ctx, c) {
		fmt.Fprintln(v.out, source.Escape(hide.Replace(text)))
	}
	if n := len(warnings); n > 0 {
		found = option.Count(n, "warning")
	}
	_, err = fmt.Fprintln(v.out, source.Escape(where+": "+c.Summary()+", "+found))
	return outputFailure(err)
}
