package cli

import (
	"cmp"
	"context"
	"errors"
	"time"

	"braid/download"
	"braid/internal/job"
	"braid/internal/render"
)

// planAll shows the plan of each file on the list and returns the exit code as far as it is known.
func (g *getCommand) planAll(ctx context.Context, client *download.Client, list *job.List) int {
	codes := []int{g.showNotes(ctx, list)}
	for r := range list.All() {
		if codes = append(codes, g.plan(ctx, client, r, list.Files > 1)); ctx.Err() != nil {
			break
		}
	}
	if list.Err != nil {
		codes = append(codes, g.told(ctx, list.Err))
	}
	return batchCode(append(codes, g.written(ctx)))
}

func (g *getCommand) plan(ctx context.Context, client *download.Client, r download.Request, several bool) int {
	w := render.NewDownload(g.screen, nil, several)
	r.Observe = w.Observe
	if g.Job.Dir != "" && r.Dir == g.Job.Dir { // the command makes the folder
		r.MakeDir = true
	}
	h, err := client.Plan(ctx, r)
	if e, ok := errors.AsType[*download.SeveralError](err); ok {
		list, err := job.NewListOf(g.Job, e.Document, r)
		if err == nil {
			return g.planAll(ctx, client, list)
		}
		return g.wouldFail(ctx, err)
	}
	if g.leaves(err) {
		g.screen.Say("%s: exists, and stays as it is", h.Path)
		return exitDone
	}
	if len(h.Places) > 0 || h.Done != nil {
		err = cmp.Or(g.tellPlan(h, err != nil, several), err)
	}
	if err != nil {
		return g.wouldFail(ctx, err)
	}
	return exitDone
}

// wouldFail reports the problem that the download would have, or that the plan had.
func (g *getCommand) wouldFail(ctx context.Context, err error) int {
	if g.ended != nil {
		g.ended(-1, download.Request{}, download.Result{}, err)
	}
	f := downloadProblem(ctx, err)
	f.Kept = ""
	g.report(f)
	return exitCode(f)
}

// tellPlan writes the plan to standard output.
func (g *getCommand) tellPlan(h download.Plan, fails, several bool) error {
	if g.lines != nil {
		g.lines.Write(render.NewPlanEvent(time.Now(), h, fails))
		return nil
	}
	lines := render.PlanLines(h, cmp.Or(int(g.Job.Transfer.Split), 16))
	if several {
		lines = append(lines, "")
	}
	return printLines(g.streams.out, lines)
}
