package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"braid/download"
	"braid/report"
	"braid/source"
)

// run downloads each operand, one after the other.
func (g *getCommand) run(ctx context.Context, words []string) error {
	g.screen = &screen{
		w: g.streams.err, quiet: g.quiet, verbose: g.verbose,
		meter: newMeter(progressWord(g.progress.word, g.quiet, g.json, g.terminal), g.streams.err),
	}
	if g.json {
		g.lines = &lineWriter{w: g.streams.out}
	}
	requests, err := g.requests(words)
	if err == nil {
		err = g.makeFolder()
	}
	if err == nil {
		g.reporter, err = newReporter(g.reportPath)
	}
	if err != nil {
		return g.report(failureOf(ctx, err))
	}
	client := g.client()
	defer client.HTTP.CloseIdle()
	defer func() { client.Speeds.Save(time.Now()) }() // a hint: nothing is lost if it fails
	var codes []int
	for i, r := range requests {
		if len(requests) > 1 {
			g.screen.say("%d of %d: %s", i+1, len(requests), source.Mask(r.URL))
		}
		codes = append(codes, g.one(ctx, client, r))
		if left := len(requests) - i - 1; ctx.Err() != nil && left > 0 {
			g.screen.say("%s not begun", count(left, "file"))
			break
		}
	}
	return g.finish(ctx, batchCode(codes))
}

// finish writes the report, whatever the exit code of the downloads is. That it cannot be written is an exit code of its
// own only where all else went well; what was downloaded stays.
func (g *getCommand) finish(ctx context.Context, code int) error {
	if err := g.reporter.write(); err != nil {
		told := g.report(failureOf(ctx, err))
		if code == exitDone {
			return told
		}
	} else if g.reporter != nil {
		g.screen.detail("report: %s", g.reporter.path)
	}
	if code != exitDone {
		return reported(code)
	}
	return nil
}

// makeFolder makes the folder that -d names.
func (g *getCommand) makeFolder() error {
	if g.dir == "" {
		return nil
	}
	if err := os.MkdirAll(g.dir, 0o777); err != nil {
		return &failure{code: exitLocal, what: "folder", where: g.dir, why: reason(err)}
	}
	return nil
}

// one downloads one file, tells the user how it went and returns the exit code.
func (g *getCommand) one(ctx context.Context, client *download.Client, r download.Request) int {
	w := &watcher{screen: g.screen, lines: g.lines}
	rec := g.reporter.record(&r)
	result, err := g.watched(ctx, client, r, w, rec)
	if g.keep && errors.Is(err, fs.ErrExist) {
		g.screen.say("%s: exists, and stays as it is", w.path)
		return exitDone
	}
	g.reporter.add(rec)
	if err != nil {
		w.shares(result.Sources)
		f := downloadFailure(ctx, err)
		g.report(f)
		return f.code
	}
	g.lines.write(newDoneEvent(time.Now(), r, result))
	g.screen.say("%s", w.result(result))
	if g.terminal || g.verbose {
		w.shares(result.Sources)
	}
	if g.lines != nil && g.lines.err != nil {
		f := failureOf(ctx, outputFailure(g.lines.err))
		g.screen.fail(f)
		return f.code
	}
	return exitDone
}

// watched downloads while w tells of it, and the recorder, if there is one, takes it down.
func (g *getCommand) watched(ctx context.Context, client *download.Client, r download.Request, w *watcher, rec *report.Recorder) (download.Result, error) {
	events := newQueue(outOfDate)
	var wg sync.WaitGroup
	wg.Go(func() {
		for m := range events.all() {
			w.watch(m)
		}
	})
	r.Observe = func(ev download.Event) {
		m := moment{time.Now(), ev}
		if rec != nil {
			rec.Observe(m.at, ev)
		}
		if shown(ev) {
			events.put(m)
		}
	}
	result, err := client.Get(ctx, r)
	if rec != nil {
		rec.End(time.Now(), result, err)
	}
	events.close()
	wg.Wait()
	return result, err
}

// report tells the user of a failure and leaves the exit code.
func (g *getCommand) report(f *failure) error {
	g.lines.write(newErrorEvent(time.Now(), f))
	g.screen.fail(f)
	return reported(f.code)
}
