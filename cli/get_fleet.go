package cli

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"braid/fleet"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/render"
)

// enqueueing lists the flags of braid get that are allowed with --queue, where workers download.
var enqueueing = []string{"queue", "queue-creds", "queue-ca", "queue-cert", "queue-key", "input-file", "priority",
	"quiet", "verbose", "json"}

// enqueue adds the files of the operands and of -i to the job queue, for workers to download. It returns when the jobs
// are stored.
func (g *getCommand) enqueue(ctx context.Context, words []string) error {
	if err := refuseOthers(ctx, enqueueing,
		"set the options of a worker with braid work, and those of one file (out=NAME, checksum=sha-256=HEX) in a list "+
			"(-i)"); err != nil {
		return err
	}
	if err := g.Fleet.check("get"); err != nil {
		return err
	}
	g.screen = g.outputFlags.screen(g.streams)
	g.Job.HTTP.Sites, g.Job.Queued = job.NewSites(configurationOf(ctx)), true
	g.Job.Dir, g.Job.Out = "", ""
	client, err := g.Job.Client(words...)
	if err != nil {
		return err
	}
	defer client.HTTP.CloseIdle()
	if err := g.check(words); err != nil {
		return err
	}
	jobs, err := job.Jobs(ctx, g.Job, client, words, g.Priority.Word)
	if err != nil {
		return err
	}
	q, err := g.Fleet.open(ctx, "get", slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer q.Close()
	for i := range jobs {
		if err := q.Fits(&jobs[i]); err != nil {
			return problem.Misuse(jobs[i].Name, err.Error(), "give fewer mirrors or shorter options")
		}
	}
	counts := map[fleet.News]int{}
	for _, j := range jobs {
		news, err := q.Report(ctx, j)
		if err != nil {
			return g.Fleet.failure("get", fmt.Errorf("%s: %w; the URLs before this one are in the queue", j.Name, err))
		}
		counts[news]++
		if err := g.tellQueued(&j, news); err != nil {
			return err
		}
	}
	if !g.Quiet {
		n := counts[fleet.Fresh] + counts[fleet.Again] + counts[fleet.Later]
		g.screen.Say("%s queued; %s already known", option.Count(n, "file"), option.Grouped(counts[fleet.Duplicate]))
	}
	return nil
}

// A queuedEvent is a file that was added to the job queue as a job.
type queuedEvent struct {
	render.Head
	Name string `json:"name"`
	Key  string `json:"key"`
	News string `json:"news"` // queued, known, queued already, or next (a worker still has an earlier job for the file)
}

// tellQueued prints what the queue answered about job j.
func (g *getCommand) tellQueued(j *fleet.Job, news fleet.News) error {
	if g.JSON {
		lines := render.NewJSONWriter(g.streams.out)
		lines.Write(queuedEvent{render.NewHead(time.Now(), "queued"), j.Name, j.Key(), news.String()})
		return outputFailure(lines.Err())
	}
	g.screen.Detail("%s: %s", j.Name, news)
	return nil
}
