package cli

import (
	"context"
	"errors"
	"io/fs"
	"iter"

	"braid/download"
	"braid/internal/hook"
	"braid/internal/job"
	"braid/internal/problem"
	"braid/internal/render"
)

// several downloads the files of a list concurrently and returns the exit code.
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

// observed sets the observer of each request. Files are numbered from 1.
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

// leaves reports whether the error is an existing file that --no-clobber keeps.
func (g *getCommand) leaves(err error) bool { return g.NoClobber && errors.Is(err, fs.ErrExist) }
