package cli

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
	"braid/internal/problem"
)

// runOnce is one round. Its exit code is that of the worst watch that is not up to date, whether that was found out in
// this round or before.
func (s *service) runOnce(ctx context.Context, names []string) error {
	now := s.current.Load()
	err := now.antenna.Once(ctx, s.handler(now), names...)
	if code, ok := signalCode(ctx); ok {
		return reported(code)
	}
	var codes []int
	for _, err := range flatten(err) {
		code, known := watchCode(ctx, err)
		if !known {
			s.log.Error("error", "error", err) // it has not been logged
		}
		codes = append(codes, code)
	}
	if status, err := now.antenna.Status(ctx); err == nil { // else the round has met it, too
		codes = append(codes, s.behind(status, names)...)
		s.log.round(&s.tally, status)
	}
	if code := batchCode(codes); code != exitDone {
		return reported(code)
	}
	return nil
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

// watchCode is the exit code for one thing that went wrong while watching. It is not known of what no feed and no update says.
func watchCode(ctx context.Context, err error) (code int, known bool) {
	if _, ok := errors.AsType[*feed.RejectError](err); ok {
		return exitProtocol, true
	}
	if e, ok := errors.AsType[*antenna.PollError](err); ok {
		return pollCode(e.Status), true
	}
	if e, ok := errors.AsType[*antenna.HandleError](err); ok {
		return exitCode(downloadProblem(ctx, unwrapHandle(e.Err))), true
	}
	if _, ok := errors.AsType[*antenna.PublishError](err); ok {
		return exitLocal, true
	}
	return exitCode(problemOf(ctx, err)), false
}

// pollCode is the exit code for an answer with that status where a feed or a watched URL should be. What is not there
// (404, 410) is refused as for get; anything else may be better at the next poll.
func pollCode(status int) int {
	if status == http.StatusNotFound || status == http.StatusGone {
		return exitRefused
	}
	return exitNetwork
}

func unwrapHandle(err error) error {
	if e, ok := errors.AsType[*download.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &problem.Problem{Kind: download.Local, What: "watch", Why: e.Error()}
	}
	return err
}

// lastingCodes are the exit codes of what time alone does not mend: it takes the user, or the owner of the server.
var lastingCodes = []int{exitUsage, exitAuth, exitRefused, exitNoKey, exitBadSignature, exitNoEvidence, exitLimit}

// judge is what an antenna is told of errors.
func judge(err error) (code int, lasting bool) {
	ctx := context.Background()
	if e, ok := errors.AsType[*antenna.PollError](err); ok {
		code, _ = watchCode(ctx, e)
		return code, false
	}
	code = exitCode(downloadProblem(ctx, unwrapHandle(err)))
	return code, slices.Contains(lastingCodes, code)
}

// behind are the exit codes of the watches that are not up to date, of these names or of all. What this round has not
// told of is told of here, with a line for each: a user who runs it from cron must not take silence for success while
// something waits to be tried again. A feed that is down is asked again within the hour, and is told of by the round
// that asks it.
func (s *service) behind(status antenna.Status, names []string) (codes []int) {
	var order []*lag
	worst := map[string]*lag{}
	add := func(l lag) {
		if l.code == exitDone || len(names) > 0 && !slices.Contains(names, l.watch) {
			return
		}
		codes = append(codes, l.code)
		known := worst[l.watch]
		if known == nil {
			known = &l
			worst[l.watch], order = known, append(order, known)
		} else if rank(l.code) < rank(known.code) {
			l.files = known.files
			*known = l
		}
		known.files++
	}
	for i := range status.Watches {
		add(lagOf(&status.Watches[i]))
	}
	for _, f := range status.Feeds {
		if f.Kind == antenna.Page && f.Err != "" {
			add(lag{f.Name, f.URL, max(f.Code, exitOther), f.Err, f.Failures, f.Next, 0})
		}
	}
	for _, l := range order {
		if s.tally.failed[l.watch] {
			continue
		}
		args := []any{"watch", l.watch, "url", l.url, "error", l.why, "try", l.try, "next", stamp(l.next)}
		if l.files > 1 {
			args = append(args, "files", l.files)
		}
		s.log.Error("not up to date", args...)
	}
	return codes
}

// A lag is why a watch is not up to date; of several files the worst.
type lag struct {
	watch, url string
	code       int
	why        string
	try        int
	next       time.Time
	files      int
}

// lagOf is why a file is not up to date. Its code is 0 if it is, or if it could not be more so: the server does not
// have yet what a feed reports.
func lagOf(w *antenna.WatchStatus) lag {
	l := lag{watch: w.Name, url: w.URL, try: w.Try, next: w.Next}
	switch {
	case !w.Pending:
	case w.Err != "":
		l.code, l.why = max(w.Code, exitOther), w.Err
	case w.Limited:
		l.code, l.why = exitLimit, "its feed may have no more today (updates-a-day, bytes-a-day)"
	case !w.Ahead && w.Next.After(time.Now()):
		l.code, l.why = exitOther, w.Words
	}
	return l
}
