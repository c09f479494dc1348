package watch

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"time"

	"braid/antenna"
	"braid/antenna/feed"
	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
)

// round runs one round. It returns the kinds of the errors because of which watches are not up to date, including
// errors of earlier rounds. It returns nil if a signal ended the round.
func (s *service) round(ctx context.Context, names []string) (kinds []download.Kind) {
	now := s.current.Load()
	err := now.antenna.Once(ctx, s.handler(now), names...)
	if now.of.Command.Ended(ctx) {
		return nil
	}
	for _, err := range flatten(err) {
		kind, known := watchKind(err)
		if !known {
			s.log.Error("error", "error", err) // no event was logged for err
		}
		kinds = append(kinds, kind)
	}
	if status, err := now.antenna.Status(ctx); err == nil { // otherwise Once returned the error, too
		kinds = append(kinds, s.behind(now.of.Command, status, names)...)
		s.log.round(&s.tally, status)
	}
	return kinds
}

func flatten(err error) (errs []error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			errs = append(errs, flatten(e)...)
		}
		return errs
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// watchKind returns the kind of an error of a round. known is false if err is not about a feed, an update or the
// publication.
func watchKind(err error) (kind download.Kind, known bool) {
	if _, ok := errors.AsType[*feed.RejectError](err); ok {
		return download.Protocol, true
	}
	if e, ok := errors.AsType[*antenna.PollError](err); ok {
		return pollKind(e.Status), true
	}
	if e, ok := errors.AsType[*antenna.HandleError](err); ok {
		return handleKind(e.Err), true
	}
	if _, ok := errors.AsType[*antenna.PublishError](err); ok {
		return download.Local, true
	}
	return problem.Of(err).Kind, false
}

// pollKind returns the kind of a failed poll that was answered with status. A missing feed or URL (404, 410) is
// Refused, as in braid get. Other failures may be over at the next poll.
func pollKind(status int) download.Kind {
	if status == http.StatusNotFound || status == http.StatusGone {
		return download.Refused
	}
	return download.Network
}

// handleKind returns the kind of an error of an update.
func handleKind(err error) download.Kind {
	_, ended := errors.AsType[*download.Error](err)
	if _, ok := errors.AsType[*fs.PathError](err); ok && !ended {
		return download.Local
	}
	return problem.OfDownload(err).Kind
}

// judge returns the exit code of an error, and whether the error is lasting. The antenna stores both.
func (c *Command) judge(err error) (code int, lasting bool) {
	if e, ok := errors.AsType[*antenna.PollError](err); ok {
		kind, _ := watchKind(e)
		return c.ExitCode(kind), false
	}
	kind := handleKind(err)
	return c.ExitCode(kind), problem.Lasting(kind)
}

// behind returns the kinds of the errors of watches that are not up to date. If names is not empty, it considers only
// the watches in names. For each such watch that this round has not logged, behind logs a line: a user who runs rounds
// from cron must not take silence for success while an update waits for its next try. A feed that fails is polled again
// within the hour, and the round that polls it logs the failure.
func (s *service) behind(c *Command, status antenna.Status, names []string) (kinds []download.Kind) {
	var order []*lag
	worst := map[string]*lag{}
	add := func(l lag) {
		if !l.late || len(names) > 0 && !slices.Contains(names, l.watch) {
			return
		}
		kinds = append(kinds, l.kind)
		known := worst[l.watch]
		if known == nil {
			known = &l
			worst[l.watch], order = known, append(order, known)
		} else if c.Worse(l.kind, known.kind) {
			l.files = known.files
			*known = l
		}
		known.files++
	}
	for i := range status.Watches {
		add(c.lagOf(&status.Watches[i]))
	}
	for _, f := range status.Feeds {
		if f.Kind == antenna.Page && f.Err != "" {
			add(lag{f.Name, f.URL, true, c.Kind(f.Code), f.Err, f.Failures, f.Next, 0})
		}
	}
	for _, l := range order {
		if s.tally.failed[l.watch] {
			continue
		}
		args := []any{"watch", l.watch, "url", l.url, "error", l.why, "try", l.try, "next", option.Stamp(l.next)}
		if l.files > 1 {
			args = append(args, "files", l.files)
		}
		s.log.Error("not up to date", args...)
	}
	return kinds
}

// A lag is the reason why a watch is not up to date. If several files of a watch are not up to date, the lag is the
// worst reason.
type lag struct {
	watch, url string
	late       bool // the watch is not up to date, although it could be
	kind       download.Kind
	why        string
	try        int
	next       time.Time
	files      int
}

// lagOf returns the lag of a file. late is false if the file is up to date, or if the server does not yet have the
// version that a feed reports.
func (c *Command) lagOf(w *antenna.WatchStatus) lag {
	l := lag{watch: w.Name, url: w.URL, try: w.Try, next: w.Next}
	switch {
	case !w.Pending, w.IsLate():
	case w.Err != "":
		l.late, l.kind, l.why = true, c.Kind(w.Code), w.Err
	case w.Limited:
		l.late, l.kind, l.why = true, download.Limit, "the feed has reached its limit for today (updates-a-day, bytes-a-day)"
	case !w.Ahead && w.Next.After(time.Now()):
		l.late, l.why = true, w.Words
	}
	return l
}
