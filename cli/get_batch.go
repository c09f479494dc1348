package cli

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"sync"
	"time"

	"braid/download"
	"braid/internal/job"
	"braid/internal/problem"
	"braid/internal/report"
	"braid/source"
)

// A batch shows the downloads of a list. Downloads put their events on a queue. One goroutine reads the
// queue; until all downloads have ended, only that goroutine uses the fields below hooks.
type batch struct {
	get   *getCommand
	ctx   context.Context
	put   func(file int, ev any)
	hooks *mailbox[*ending] // complete files with hooks to run

	count    tally
	began    time.Time
	running  map[int]*renderer // by file
	recent   recent
	outcomes outcomes
	speed    report.Speed
	shown    time.Time        // when the progress was last shown
	inTheWay int              // the number of existing files that are not known to be the right ones
	firstWay *problem.Problem // the problem of the first of them
}

func newBatch(ctx context.Context, g *getCommand, files int) *batch {
	return &batch{
		get: g, ctx: ctx, hooks: newMailbox(func(_, _ *ending) bool { return false }),
		count: tally{batchCounts: batchCounts{Files: files}}, began: time.Now(), running: map[int]*renderer{},
	}
}

// An ending is the result of the download of a file.
type ending struct {
	file   int
	req    download.Request
	result download.Result
	err    error
}

// several downloads the files of a list concurrently and returns the exit code.
func (g *getCommand) several(ctx context.Context, client *download.Client, list *job.List) int {
	client.HTTP.IdlePerHost = max(int(g.MaxConcurrentDownloads), download.MostAtOnce)
	b := newBatch(ctx, g, list.Files)
	begun := 0
	show(g.streams.asked, b.apply, func(put func(int, any)) {
		b.put = put
		var hooks sync.WaitGroup
		hooks.Go(b.runHooks)
		begun = client.GetAll(ctx, b.observed(g.folders.noted(list.All())),
			download.Batch{AtOnce: int(g.MaxConcurrentDownloads), Ended: b.ended})
		b.hooks.close()
		hooks.Wait()
	})
	b.count.NotBegun = list.Files - begun
	if g.reporter != nil {
		g.reporter.page.NotBegun = b.count.NotBegun
	}
	if list.Err != nil {
		b.count.add(g.told(ctx, list.Err))
	}
	return b.close()
}

// observed sets the observer of each request, if the events are shown or recorded.
func (b *batch) observed(requests iter.Seq[download.Request]) iter.Seq[download.Request] {
	return func(yield func(download.Request) bool) {
		file := 0
		for r := range requests {
			file++
			if g := b.get; g.screen.meter != nil || !g.Quiet || g.lines != nil || g.reporter != nil {
				of := file
				r.Observe = func(ev download.Event) { b.put(of, ev) }
				r.Detail = g.reporter != nil
			}
			if !yield(r) {
				return
			}
		}
	}
}

// ended records the end of a download. It counts files from 0.
func (b *batch) ended(file int, req download.Request, result download.Result, err error) {
	b.get.folders.made(result.Folders)
	if b.get.ended != nil {
		b.get.ended(file, req, result, err)
	}
	e := &ending{file + 1, req, result, err}
	b.put(e.file, e)
	if err == nil && b.get.OnComplete.wanted(result) {
		b.hooks.put(e)
	}
}

// runHooks runs the hooks one at a time while downloads continue. The output of a hook is shown after the
// hook has ended, because downloads write to the screen meanwhile.
func (b *batch) runHooks() {
	for e := range b.hooks.all() {
		var out beginning
		h := b.get.OnComplete.complete(b.ctx, b.get.screen, &out, e.req, e.result)
		h.output = out.kept
		b.put(e.file, &h)
	}
}

// leaves reports whether the error is an existing file that --no-clobber keeps.
func (g *getCommand) leaves(err error) bool { return g.NoClobber && errors.Is(err, fs.ErrExist) }

func (b *batch) apply(m moment) {
	switch ev := m.ev.(type) {
	case nil:
		b.get.screen.answer(b.progress(m.at))
		return
	case *hooked:
		b.count.add(b.get.OnComplete.report(b.ctx, b.get.screen, b.get.lines, m, *ev))
		return
	case download.Started:
		b.get.screen.detail("%s of %s: %s", grouped(m.file), grouped(b.count.Files), ev.URL)
	}
	f := b.running[m.file]
	if f == nil {
		f = newRenderer(b.get.screen, b.get.lines, true)
		b.running[m.file] = f
	}
	arrived := f.Arrived
	if e, ok := m.ev.(*ending); ok {
		b.conclude(m, f, e)
		delete(b.running, m.file)
	} else {
		f.apply(m)
		b.count.Fetched += f.Arrived - arrived
	}
	b.recent.flush(m.at, b.get.screen)
	if m.at.Sub(b.shown) >= barEvery {
		b.shown = m.at
		b.get.screen.progress(m.at, b.progress(m.at))
	}
}

// progress returns the progress of the batch.
func (b *batch) progress(at time.Time) progress {
	share := 0.0
	for _, f := range b.running {
		if far := f.Progress; far.Size > 0 {
			share += float64(min(far.Done, far.Size)) / float64(far.Size)
		}
	}
	return b.count.progress(len(b.running), share, b.speed.Now(at, b.count.Fetched), at.Sub(b.began))
}

// conclude shows the result of a download and counts it.
func (b *batch) conclude(m moment, f *renderer, e *ending) {
	g, result := b.get, e.result
	b.count.Fetched += max(0, result.Fetched-f.Arrived)
	f.Path = result.Path
	f.End(m.at, result, e.err)
	if !g.leaves(e.err) {
		g.reporter.add(f.Recorder)
	}
	x := outcome{outcomeLine: outcomeLine{File: m.file, State: wasDone, URL: source.Mask(e.req.URL), Path: f.Path}}
	if e.err != nil {
		b.failed(m, f, e, &x)
		b.outcomes.add(x)
		return
	}
	b.count.well(result)
	if result.AlreadyComplete || result.NotModified {
		x.State = wasThere
	}
	x.Size, x.Verified, x.elapsed, x.proven = result.Size, result.Proof.Verified(), result.Elapsed, f.gist(result)
	b.outcomes.add(x)
	g.OnComplete.forgotten(g.screen, result)
	if g.terminal && !g.Verbose && !g.Quiet {
		g.lines.write(newDoneEvent(m, e.req, result))
		b.recent.add(m.at, f.name(), result.Size, f.result(result), x.proven)
		return
	}
	f.done(m, e.req, result, f.result(result))
	if g.Verbose {
		f.shares(result.Sources)
	}
}

// failed shows the failure of a download. Interruptions are summarized at the end.
func (b *batch) failed(m moment, f *renderer, e *ending, x *outcome) {
	g := b.get
	if g.leaves(e.err) {
		b.count.left++
		x.State, x.Why = wasLeft, "exists, and stays as it is"
		g.screen.detail("%s: %s", f.Path, x.Why)
		return
	}
	failure := downloadProblem(b.ctx, e.err)
	line := newErrorEvent(m, failure)
	line.URL, line.Path = x.URL, f.Path
	g.lines.write(line)
	x.Code = exitCode(failure)
	if own, ok := errors.AsType[*download.Error](e.err); ok && own.Kind == download.Interrupted {
		b.count.Unfinished++
		b.count.kept += own.Kept
		b.count.add(exitCode(failure))
		x.State, x.Why = wasInterrupted, failure.Kept
		return
	}
	b.count.lost(failure)
	x.State, x.Why = wasFailed, failure.Why
	if own, ok := errors.AsType[*download.Error](e.err); ok && own.Hint == download.HintExists && !g.Verbose {
		b.isThere(failure)
		return
	}
	g.screen.fail(failure)
	if g.Verbose {
		f.shares(e.result.Sources)
	}
}

// isThere counts a file that is in the way. All such files share one message at the end: a list that was
// downloaded before from servers without digests has thousands.
func (b *batch) isThere(f *problem.Problem) {
	if b.inTheWay++; b.inTheWay == 1 {
		b.firstWay = f
	}
}

// thereFailure returns the problem of all files that are in the way; nil without any.
func (b *batch) thereFailure() *problem.Problem {
	if b.inTheWay < 2 {
		return b.firstWay
	}
	f := *b.firstWay
	f.What, f.Where = "files", ""
	f.Why = grouped(b.inTheWay) + " are there and not known to be the right ones, as " + b.firstWay.Where
	f.Hint = "--no-clobber leaves what is there, with exit code 0; -N fetches what is newer; --overwrite replaces each once the new one is verified"
	return &f
}

// close shows the summary of the batch and returns the exit code.
func (b *batch) close() int {
	screen, elapsed := b.get.screen, time.Since(b.began)
	b.recent.flush(b.recent.since.Add(recentTime), screen)
	if code, ok := signalCode(b.ctx); ok && b.count.NotBegun > 0 {
		b.count.add(code)
	}
	now := moment{at: time.Now()}
	b.get.lines.write(batchEvent{now.head("batch"), b.count.batchCounts, elapsed.Seconds(), b.count.code,
		each(b.outcomes.kept, func(x outcome) outcomeLine { return x.outcomeLine }), b.outcomes.more})
	table := b.outcomes.table(screen.columns())
	for _, line := range append(table, b.count.summary(elapsed, len(table) > 0)...) {
		screen.say("%s", line)
	}
	if f := b.thereFailure(); f != nil {
		screen.fail(f)
	}
	if f := b.count.unfinishedFailure(b.ctx); f != nil {
		screen.fail(f)
	}
	return batchCode([]int{b.count.code, b.get.written(b.ctx)})
}
