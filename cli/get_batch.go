package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"time"

	"braid/download"
	"braid/internal/hook"
	"braid/internal/job"
	"braid/internal/problem"
	"braid/internal/render"
)

// several downloads the files in list concurrently and returns the exit code for all.
func (g *getCommand) several(ctx context.Context, client *download.Client, list *job.List) int {
	client.HTTP.IdlePerHost = max(int(g.MaxConcurrentDownloads), download.MostAtOnce)
	b := &render.Batch{
		Files: list.Files, Screen: g.screen, Lines: g.lines, Page: g.page, Hook: g.OnComplete.Given(),
		Failure: func(err error) (*problem.Problem, int) { return failureOf(ctx, err) },
		Code:    batchCode, Left: g.leaves,
	}
	begun := 0
	b.During(g.streams.asked, func(put func(int, any)) {
		hooks := g.OnComplete.Start(ctx, func(file int, r hook.Result) { put(file, r) })
		defer hooks.Wait()
		requests := g.folders.noted(list.All())
		if b.Shows() {
			requests = g.observed(requests, put)
		}
		begun = client.GetAll(ctx, requests, download.Batch{
			AtOnce: int(g.MaxConcurrentDownloads),
			Ended: func(file int, req download.Request, result download.Result, err error) {
				g.folders.made(result.Folders)
				if g.ended != nil {
					g.ended(file, req, result, err)
				}
				put(file+1, &render.Ending{Request: req, Result: result, Err: err})
				if err == nil && g.OnComplete.Wanted(result) {
					hooks.Add(file+1, req, result)
				}
			},
		})
	})
	if list.Err != nil {
		b.Add(g.told(ctx, list.Err))
	}
	if code, ok := signalCode(ctx); ok && begun < list.Files {
		b.Add(code)
	}
	return batchCode([]int{b.Close(list.Files-begun, context.Cause(ctx)), g.written(ctx)})
}

// observed sets the observer of each request to put, called with the number of the file. Numbers begin with 1.
func (g *getCommand) observed(requests iter.Seq[download.Request], put func(int, any)) iter.Seq[download.Request] {
	return func(yield func(download.Request) bool) {
		file := 0
		for r := range requests {
			file++
			of := file
			r.Observe = func(ev download.Event) { put(of, ev) }
			r.Detail = g.page != nil
			if !yield(r) {
				return
			}
		}
	}
}

// leaves reports whether err means that the file exists and that --no-clobber keeps it.
func (g *getCommand) leaves(err error) bool { return g.NoClobber && errors.Is(err, fs.ErrExist) }

// planAll shows the plan of each file on the list and returns the expected exit code.
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
	if g.Job.Dir != "" && r.Dir == g.Job.Dir { // a download would create this folder
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
		g.screen.Say("%s: exists, and is kept", h.Path)
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

// wouldFail reports err, the error of the planned download or of planning it, and returns the exit code.
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
