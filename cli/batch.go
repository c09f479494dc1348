package cli

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"sync"
	"time"

	"braid/download"
	"braid/report"
	"braid/source"
)

// several downloads the files of a list, some at a time, and returns the exit code.
func (g *getCommand) several(ctx context.Context, client *download.Client, list *worklist) int {
	client.HTTP.IdlePerHost = max(int(g.atOnce), download.MostAtOnce)
	t := &teller{get: g, ctx: ctx, count: tally{files: list.files}, began: time.Now(), running: map[int]*tracked{}}
	d := &desk{get: g, recorders: map[int]*report.Recorder{}, hooks: newQueue(func(_, _ *job) bool { return false })}
	d.events = newQueue(func(last, next news) bool {
		return next.end == nil && last.end == nil && next.hook == nil && last.hook == nil && outOfDate(last.moment, next.moment)
	})
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := range d.events.all() {
			t.hear(n)
		}
	})
	var hooks sync.WaitGroup
	hooks.Go(func() { d.runHooks(ctx) })
	stop := relay(g.streams.asked, func() { d.events.put(news{moment: moment{at: time.Now(), ask: true}}) })
	t.count.begun = client.GetAll(ctx, d.observed(g.folders.noted(list.all())), download.Batch{AtOnce: int(g.atOnce), Ended: d.ended})
	d.hooks.close()
	hooks.Wait()
	stop()
	d.events.close()
	wg.Wait()
	g.reporter.notBegun(list.files - t.count.begun)
	return t.close()
}

// A desk takes what happens in the downloads of a batch to the teller, and to the report if there is one. Its methods are
// called by the goroutine of GetAll; what it gives to requests, by those of the downloads.
type desk struct {
	get       *getCommand
	events    *queue[news]
	recorders map[int]*report.Recorder // by file
	hooks     *queue[*job]             // of files that came
}

// observed makes requests tell what happens, if anybody wants to know.
func (d *desk) observed(requests iter.Seq[download.Request]) iter.Seq[download.Request] {
	return func(yield func(download.Request) bool) {
		file := 0
		for r := range requests {
			file++
			if r.Observe = d.observer(file, &r); !yield(r) {
				return
			}
		}
	}
}

// observer is who is told what happens to a file; nil if nobody wants to know.
func (d *desk) observer(file int, r *download.Request) func(download.Event) {
	_, hides := d.get.screen.meter.(hidden)
	seen := !hides || !d.get.quiet || d.get.lines != nil
	rec := d.get.reporter.record(r)
	if rec == nil && !seen {
		return nil
	}
	if rec != nil {
		d.recorders[file] = rec
	}
	return func(ev download.Event) {
		at := time.Now()
		if rec != nil {
			rec.Observe(at, ev)
		}
		if seen && shown(ev) {
			d.events.put(news{moment: moment{at: at, ev: ev, file: file}})
		}
	}
}

// ended takes note of the end of a download; files are counted from 0 here.
func (d *desk) ended(file int, req download.Request, result download.Result, err error) {
	file++
	d.get.folders.made(result.Folders)
	if rec := d.recorders[file]; rec != nil {
		delete(d.recorders, file)
		rec.End(time.Now(), result, err)
		if !d.get.leaves(err) {
			d.get.reporter.add(rec)
		}
	}
	d.events.put(news{moment: moment{at: time.Now(), file: file}, end: &ending{req, result, err}})
	if err == nil && d.get.onComplete.wanted(result) {
		d.hooks.put(&job{file, req, result})
	}
}

// A job is a file that a hook is to be run for.
type job struct {
	file   int
	req    download.Request
	result download.Result
}

// runHooks runs hooks while others are downloaded, one at a time. What they print is shown when they have ended, as others
// write on the screen meanwhile.
func (d *desk) runHooks(ctx context.Context) {
	for j := range d.hooks.all() {
		var out beginning
		h := d.get.complete(ctx, &out, j.req, j.result)
		h.output = out.kept
		d.events.put(news{moment: moment{at: time.Now(), file: j.file}, hook: &h})
	}
}

// leaves says that the error is a file in the way that the user wants to keep.
func (g *getCommand) leaves(err error) bool { return g.keep && errors.Is(err, fs.ErrExist) }

// news is what happened to one file of a batch: an event, or the end of its download.
type news struct {
	moment
	end  *ending
	hook *hooked // a hook has run, after the end
}

// An ending is how a download ended.
type ending struct {
	req    download.Request
	result download.Result
	err    error
}

// A teller tells of a batch, on the screen and in JSON. It is used by one goroutine.
type teller struct {
	get      *getCommand
	ctx      context.Context
	count    tally
	began    time.Time
	running  map[int]*tracked // by file
	results  gathered
	outcomes outcomes
	speed    speed
	shown    time.Time // when the progress was shown last
}

// tracked is what is known of a file that is under way.
type tracked struct {
	watcher
	done, size int64
	counted    int64 // bytes that are in the count of the batch
}

// hear takes what happened.
func (t *teller) hear(n news) {
	if n.ask {
		t.get.screen.answer(t.far(n.at))
		return
	}
	if n.hook != nil {
		t.count.code = batchCode([]int{t.count.code, t.get.tellHook(t.ctx, n.moment, *n.hook)})
		return
	}
	f := t.running[n.file]
	if f == nil {
		f = &tracked{watcher: watcher{screen: t.get.screen, lines: t.get.lines, one: true}, size: -1}
		t.running[n.file] = f
	}
	switch ev := n.ev.(type) {
	case download.Started:
		t.get.screen.detail("%s of %s: %s", grouped(n.file), grouped(t.count.files), ev.URL)
	case download.Progress:
		t.arrived(f, ev.Done-f.done)
		f.done, f.size = ev.Done, ev.Size
	case download.Resumed:
		f.done = ev.Bytes
	case download.Restarted:
		f.done = 0
	}
	if n.end != nil {
		t.ended(n, f)
		delete(t.running, n.file)
	} else {
		f.watch(n.moment)
	}
	t.results.flush(n.at, t.get.screen)
	t.progress(n.at)
}

func (t *teller) arrived(f *tracked, n int64) {
	if n > 0 {
		t.count.fetched += n
		f.counted += n
	}
}

// progress shows how far the batch is, ten times a second.
func (t *teller) progress(at time.Time) {
	if at.Sub(t.shown) < 100*time.Millisecond {
		return
	}
	t.shown = at
	t.get.screen.progress(at, t.far(at))
}

// far is how far the batch is.
func (t *teller) far(at time.Time) batchProgress {
	p := batchProgress{
		files: t.count.files, ended: t.count.ended(), running: len(t.running), fetched: t.count.fetched,
		rate: t.speed.now(at, t.count.fetched), elapsed: at.Sub(t.began),
	}
	for _, f := range t.running {
		if f.size > 0 {
			p.share += float64(min(f.done, f.size)) / float64(f.size)
		}
	}
	return p
}

// ended tells how a download ended, and counts it.
func (t *teller) ended(n news, f *tracked) {
	result, err := n.end.result, n.end.err
	t.arrived(f, result.Fetched-f.counted)
	f.path = result.Path
	if err != nil {
		t.failed(n, f)
		return
	}
	t.count.well(result)
	state := wasDone
	if result.AlreadyComplete || result.NotModified {
		state = wasThere
	}
	t.note(n, f, outcome{state: state, size: result.Size, elapsed: result.Elapsed, proven: f.gist(result), result: result})
	t.get.lines.write(newDoneEvent(n.moment, n.end.req, result))
	t.get.forgotten(result)
	if t.get.quiet {
		return
	}
	if t.get.terminal && !t.get.verbose {
		t.results.add(n.at, finished{f.name(), result.Size, f.result(result), f.gist(result)})
		return
	}
	t.get.screen.conclude(hueOf(result), f.result(result), f.proven(result))
	if t.get.verbose {
		f.shares(result.Sources)
	}
}

// note keeps what became of a file for the end.
func (t *teller) note(n news, f *tracked, x outcome) {
	x.file, x.url, x.path = n.file, source.Mask(n.end.req.URL), f.path
	t.outcomes.add(x)
}

// failed tells why a download brought no file. What was interrupted is told once, at the end.
func (t *teller) failed(n news, f *tracked) {
	err := n.end.err
	if t.get.leaves(err) {
		t.count.left++
		t.note(n, f, outcome{state: wasLeft, why: "exists, and stays as it is"})
		t.get.screen.detail("%s: exists, and stays as it is", f.path)
		return
	}
	failure := downloadFailure(t.ctx, err)
	e := newErrorEvent(n.moment, failure)
	e.URL, e.Path = source.Mask(n.end.req.URL), f.path
	t.get.lines.write(e)
	if own, ok := errors.AsType[*download.Error](err); ok && own.Kind == download.Interrupted {
		t.count.interrupted(own.Kept, failure.code)
		t.note(n, f, outcome{state: wasInterrupted, code: failure.code, why: failure.kept})
		return
	}
	t.count.lost(failure)
	t.note(n, f, outcome{state: wasFailed, code: failure.code, why: failure.why})
	t.get.screen.fail(failure)
	if t.get.verbose {
		f.shares(n.end.result.Sources)
	}
}

// close tells what became of the batch and returns the exit code.
func (t *teller) close() int {
	t.results.end(t.get.screen)
	elapsed := time.Since(t.began)
	if code, ok := signalCode(t.ctx); ok && t.count.begun < t.count.files {
		t.count.code = batchCode([]int{t.count.code, code})
	}
	event := t.count.event(moment{at: time.Now()}, elapsed)
	event.Results, event.More = t.outcomes.lines(), t.outcomes.more
	t.get.lines.write(event)
	table := t.outcomes.table(t.get.screen.columns())
	for _, line := range table {
		t.get.screen.say("%s", line)
	}
	for _, line := range t.count.summary(elapsed, len(table) > 0) {
		t.get.screen.say("%s", line)
	}
	if f := t.count.unfinishedFailure(t.ctx); f != nil {
		t.get.screen.fail(f)
	}
	return batchCode([]int{t.count.code, t.get.written(t.ctx)})
}
