package cli

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"braid/download"
	"braid/fleet"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/plug/jetstream"
	"braid/internal/problem"
	"braid/internal/render"
)

// A queueCommand is one run of braid queue, which shows and changes a job queue.
type queueCommand struct {
	streams
	Fleet          fleetFlags
	JSON, All, End bool
	Older          duration
	queue          *fleetQueue
}

func newQueue(s streams) (action, targets) {
	q := &queueCommand{streams: s}
	return q.run, targetsOf(q)
}

var (
	queueVerbs  = []string{"list", "status", "retry", "drop", "drain"}
	queueStates = []fleet.State{fleet.Queued, fleet.Running, fleet.Waiting, fleet.Done, fleet.Dead}
)

func (c *queueCommand) run(ctx context.Context, words []string) (err error) {
	if len(words) == 0 {
		return problem.Misuse("queue", "missing command", "choose one of "+strings.Join(queueVerbs, ", "))
	}
	verb, rest := words[0], words[1:]
	if err := c.check(verb, rest); err != nil {
		return err
	}
	if c.queue, err = c.Fleet.open(ctx, "queue "+verb, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	defer c.queue.Close()
	switch verb {
	case "list":
		err = c.list(ctx, rest)
	case "status":
		err = c.status(ctx)
	case "drain":
		err = c.drain(ctx)
	default:
		err = c.each(ctx, verb, rest)
	}
	if _, own := err.(*problem.Problem); own || err == nil {
		return err
	}
	return c.Fleet.failure("queue "+verb, err)
}

func (c *queueCommand) check(verb string, rest []string) error {
	if !slices.Contains(queueVerbs, verb) {
		hint := "choose one of " + strings.Join(queueVerbs, ", ")
		if near := option.Nearest(verb, queueVerbs); near != "" {
			hint = "did you mean " + near + "?"
		}
		return problem.Misuse("queue "+job.MaskWord(verb), "unknown command", hint)
	}
	named := verb == "retry" || verb == "drop"
	for _, word := range rest {
		if (verb == "list" || verb == "drop" && c.All) && !slices.Contains(queueStates, fleet.State(word)) {
			return problem.Misuse("queue "+verb+" "+job.MaskWord(word), "is not a state of jobs",
				"use queued, running, waiting, done or dead")
		}
	}
	return firstMisuse([]wrongUse{
		{named && !c.All && len(rest) == 0 || verb == "retry" && c.All && len(rest) > 0, "queue " + verb,
			"give either names or --all", "write braid queue " + verb + " NAME or --all; braid queue list dead shows " +
				"the names"},
		{!named && c.All, "--all", "applies only to braid queue retry and drop", ""},
		{verb == "drop" && c.All && slices.Contains(rest, string(fleet.Running)), "queue drop --all running",
			"running jobs cannot be dropped", "stop the workers first, or let them finish with braid queue drain"},
		{c.Older != 0 && (verb != "drop" || !c.All), "--older", "applies only to braid queue drop --all", ""},
		{c.End && verb != "drain", "--end", "applies only to braid queue drain", ""},
		{c.JSON && verb != "list" && verb != "status", "--json", "applies only to braid queue list and status", ""},
		{(verb == "status" || verb == "drain") && len(rest) > 0, "queue " + verb, "takes no operand", ""},
	})
}

// records returns the jobs in one of states, or all jobs, sorted by name. If some other jobs were written by a newer
// version of braid, the error is a *jetstream.NewerError.
func (c *queueCommand) records(ctx context.Context, states ...fleet.State) ([]fleet.Record, error) {
	all, err := c.queue.All(ctx)
	all = slices.DeleteFunc(all, func(r fleet.Record) bool { return len(states) > 0 && !slices.Contains(states, r.State) })
	slices.SortFunc(all, func(a, b fleet.Record) int { return strings.Compare(a.Job.Name, b.Job.Name) })
	return all, err
}

// list shows the jobs in the states that words name, or all jobs.
func (c *queueCommand) list(ctx context.Context, words []string) error {
	var states []fleet.State
	for _, w := range words {
		states = append(states, fleet.State(w))
	}
	all, passed := c.records(ctx, states...)
	if passed != nil && !jetstream.Newer(passed) {
		return passed
	}
	for _, r := range all {
		var err error
		if c.JSON {
			err = c.write(jobEvent{render.NewHead(time.Now(), "job"), masked(r)})
		} else {
			err = printLines(c.out, []string{jobLine(&r)})
		}
		if err != nil {
			return outputFailure(err)
		}
	}
	return passed
}

// jobEvent and queueEvent are lines of --json output. Their other fields are defined in package fleet.
type (
	jobEvent struct {
		render.Head
		fleet.Record
	}
	queueEvent struct {
		render.Head
		fleet.Status
	}
)

// masked returns r without the secrets in the URLs of its jobs (rule 62).
func masked(r fleet.Record) fleet.Record {
	if r.Job = maskedJob(r.Job); r.Newer != nil {
		newer := maskedJob(*r.Newer)
		r.Newer = &newer
	}
	return r
}

func maskedJob(j fleet.Job) fleet.Job {
	j.URIs, j.Options = slices.Clone(j.URIs), slices.Clone(j.Options)
	for i, u := range j.URIs {
		j.URIs[i] = job.MaskWord(u)
	}
	for i := range j.Options {
		if o := &j.Options[i]; job.IsURL(o.Value) {
			o.Value = job.MaskWord(o.Value)
		}
	}
	return j
}

func (c *queueCommand) write(v any) error {
	lines := render.NewJSONWriter(c.out)
	lines.Write(v)
	return lines.Err()
}

// jobLine formats r as a line, with details that depend on the state of the job.
func jobLine(r *fleet.Record) string {
	line := fmt.Sprintf("%-7s  %s", r.State, option.Shorten(r.Job.Name, 200))
	if r.Job.Priority != fleet.Normal {
		line += "  " + r.Job.Priority.String() + " priority"
	}
	switch {
	case r.State == fleet.Running:
		line += "  at " + r.Lease.Holder
		if r.Progress != (fleet.Progress{}) { // as of the last renewal of the lease
			line += ", " + progressText(r.Progress)
		}
	case r.State == fleet.Done && r.Good != nil:
		line += fmt.Sprintf("  %s, %s", option.SizeText(r.Good.Size), cmp.Or(r.Good.Proof, "unverified"))
	case r.State == fleet.Waiting:
		line += "  until " + option.Stamp(r.Next)
	case r.State == fleet.Queued && r.Place.Host != "":
		line += "  waits for its turn at " + r.Place.Host
	}
	if (r.State == fleet.Waiting || r.State == fleet.Dead) && r.Last != nil {
		line += "  " + r.Last.Why
	}
	return line
}

func progressText(p fleet.Progress) string {
	if p.Size <= 0 {
		return option.SizeText(p.Done)
	}
	line := fmt.Sprintf("%s of %s, %s/s", option.SizeText(p.Done), option.SizeText(p.Size), option.SizeText(p.Speed))
	if p.Sources > 0 {
		line += " from " + option.Count(p.Sources, "source")
	}
	return line
}

// status shows the state of the queue, and how its workers answer now.
func (c *queueCommand) status(ctx context.Context) error {
	workers, err := c.queue.Workers(ctx)
	if err != nil {
		return err
	}
	b, err := c.queue.Board(ctx)
	if err != nil && !jetstream.Newer(err) {
		return err
	}
	s := b.Status(workers, time.Now().Add(c.queue.Offset()))
	s.Drained = c.queue.Paused()
	if s.Lost, err = c.queue.Lost(ctx); err != nil && !jetstream.Newer(err) {
		return err
	}
	if c.JSON {
		for i := range s.Running {
			s.Running[i] = masked(s.Running[i])
		}
		return outputFailure(c.write(queueEvent{render.NewHead(time.Now(), "queue"), s}))
	}
	return printLines(c.out, statusLines(&s))
}

func statusLines(s *fleet.Status) (lines []string) {
	for _, state := range queueStates {
		lines = append(lines, fmt.Sprintf("%-7s  %s", state, option.Grouped(s.Jobs[state])))
	}
	for _, p := range []fleet.Priority{fleet.High, fleet.Low} {
		if n := s.Queued[p.String()]; n > 0 {
			lines[0] += fmt.Sprintf(", %s with priority %s", option.Grouped(n), p)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Workers)) {
		line := name + "  " + option.Count(s.Workers[name], "job")
		if slices.Contains(s.Silent, name) {
			line += ", does not answer"
		}
		lines = append(lines, line)
	}
	for i := range s.Running {
		lines = append(lines, jobLine(&s.Running[i])+", for "+option.TimeText(s.Now.Sub(s.Running[i].Since).Round(time.Second)))
	}
	if len(s.Running) > 0 {
		lines = append(lines, fmt.Sprintf("total         %s of %s, %s/s",
			option.SizeText(s.Done), option.SizeText(s.Size), option.SizeText(s.Speed)))
	}
	if n := s.Jobs[fleet.Newer]; n > 0 {
		lines = append(lines, fmt.Sprintf("%-7s  %s, written by a newer braid: this version cannot read these jobs and "+
			"leaves them unchanged", fleet.Newer, option.Grouped(n)))
	}
	if !s.Lost.IsZero() {
		lines = append(lines, "the queue's server lost its data at "+option.Stamp(s.Lost)+", and with it all "+
			"unfinished jobs: add them again with braid watch forget NAME CONFIG or braid get --queue")
	}
	if s.Drained {
		lines = append(lines, "drained: workers take no jobs until braid queue drain --end")
	}
	return lines
}

// each retries or drops the jobs with the given names or, with --all, all jobs in question.
func (c *queueCommand) each(ctx context.Context, verb string, names []string) error {
	do := c.queue.Retry
	if verb == "drop" {
		do = c.queue.Drop
	}
	if c.All {
		return c.all(ctx, verb, names)
	}
	for _, name := range names {
		done, err := do(ctx, fleet.KeyOf(name))
		if err != nil {
			return err
		}
		if !done {
			why := map[string]string{"retry": "no waiting or dead job has this name",
				"drop": "no job has this name, or a worker has taken the job"}[verb]
			return &problem.Problem{
				Kind: download.Other, What: "queue " + verb, Where: name, Why: why,
				Hint: "list the jobs with braid queue list",
			}
		}
	}
	return nil
}

// all retries or drops all dead jobs. If words, which is only for drop, names states, it drops the jobs in these states
// instead.
func (c *queueCommand) all(ctx context.Context, verb string, words []string) error {
	states := []fleet.State{fleet.Dead}
	if len(words) > 0 {
		states = nil
	}
	for _, w := range words {
		states = append(states, fleet.State(w))
	}
	if verb == "retry" { // the process of an earlier retry may have ended before it sent the job's message
		states = append(states, fleet.Queued)
	}
	before := time.Now().Add(c.queue.Offset() - time.Duration(c.Older))
	all, passed := c.records(ctx, states...)
	if passed != nil && !jetstream.Newer(passed) {
		return passed
	}
	for _, r := range all {
		var err error
		switch {
		case verb == "drop" && !r.Since.After(before):
			_, err = c.queue.DropAs(ctx, &r)
		case verb == "retry" && (r.State == fleet.Dead || r.Last != nil):
			_, err = c.queue.Retry(ctx, r.Job.Key())
		}
		if err != nil {
			return err
		}
	}
	return passed
}

// drainEvery is the interval at which drain checks for running jobs.
const drainEvery = 200 * time.Millisecond

// drain makes workers take no more jobs until drain --end, and waits until no job is running. A job does not count as
// running after its worker has stopped renewing the lease.
func (c *queueCommand) drain(ctx context.Context) error {
	if err := c.queue.Pause(ctx, !c.End); err != nil || c.End {
		return err
	}
	ticker := time.NewTicker(drainEvery)
	defer ticker.Stop()
	for {
		running, err := c.queue.Running(ctx)
		now := time.Now().Add(c.queue.Offset())
		// a worker that still runs renews its lease in time
		had := func(r fleet.Record) bool { return now.Before(r.Lease.Until) }
		if err != nil || !slices.ContainsFunc(running, had) {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
