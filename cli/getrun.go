package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"braid/download"
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
	if err != nil {
		return g.report(failureOf(ctx, err))
	}
	client := g.client()
	defer client.HTTP.CloseIdle()
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
	if code := batchCode(codes); code != exitDone {
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
	events := newQueue(outOfDate)
	var wg sync.WaitGroup
	wg.Go(func() {
		for m := range events.all() {
			w.watch(m)
		}
	})
	r.Observe = func(ev download.Event) { events.put(moment{time.Now(), ev}) }
	result, err := client.Get(ctx, r)
	events.close()
	wg.Wait()
	if g.keep && errors.Is(err, fs.ErrExist) {
		g.screen.say("%s: exists, and stays as it is", w.path)
		return exitDone
	}
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

// report tells the user of a failure and leaves the exit code.
func (g *getCommand) report(f *failure) error {
	g.lines.write(newErrorEvent(time.Now(), f))
	g.screen.fail(f)
	return reported(f.code)
}
