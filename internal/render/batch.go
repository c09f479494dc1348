package render

import (
	"errors"
	"os"
	"os/exec"
	"time"

	"braid/download"
	"braid/internal/hook"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/report"
	"braid/source"
)

// A Batch shows the downloads of a list. Its exported fields must be set before During is called.
type Batch struct {
	Files int // number of files in the list

	Screen *Screen
	Lines  *JSONWriter // nil if --json is not given
	Page   *Page       // nil if --report is not given
	Hook   bool        // a program runs for each complete file

	// Failure converts an error to a problem, and returns the problem and its exit code.
	Failure func(error) (*problem.Problem, int)
	// Code returns the exit code that stands for all of codes.
	Code func(codes []int) int
	// Left reports whether an error means that an existing file was kept. It may be nil.
	Left func(error) bool

	count    tally
	began    time.Time
	running  map[int]*Download // by number of the file
	recent   recent
	rows     fileRows
	speed    report.Speed
	shown    time.Time        // when the progress was last shown
	code     int              // exit code of the files so far
	inTheWay int              // number of existing files that could not be verified
	firstWay *problem.Problem // problem of the first of these files
	vain     vain
}

// An Ending is the end of a file's download, with its result.
type Ending struct {
	Request download.Request
	Result  download.Result
	Err     error
}

// During shows the downloads of a call. call calls put with each event and each Ending, and the number of the file. put
// does not wait for the screen. Signals from asked request the progress.
func (b *Batch) During(asked <-chan os.Signal, call func(put func(file int, ev any))) {
	b.begin()
	show(asked, b.apply, call)
}

func (b *Batch) begin() { b.count.Files, b.began, b.running = b.Files, time.Now(), map[int]*Download{} }

// Shows reports whether events of downloads are shown or recorded at all.
func (b *Batch) Shows() bool {
	return b.Screen.Meter != nil || !b.Screen.Quiet || b.Lines != nil || b.Page != nil
}

func (b *Batch) apply(m moment) {
	switch ev := m.ev.(type) {
	case nil:
		b.Screen.answer(b.progress(m.at))
		return
	case hook.Result:
		b.Add(HookEnded(b.Screen, b.Lines, m.at, m.file, ev, b.Failure))
		return
	case download.Started:
		b.Screen.Detail("%s of %s: %s", option.Grouped(m.file), option.Grouped(b.count.Files), ev.URL)
	}
	f := b.running[m.file]
	if f == nil {
		f = NewDownload(b.Screen, b.Lines, true)
		b.running[m.file] = f
	}
	arrived := f.record.Arrived
	if e, ok := m.ev.(*Ending); ok {
		b.conclude(m, f, e)
		delete(b.running, m.file)
	} else {
		f.apply(m)
		b.count.Fetched += f.record.Arrived - arrived
	}
	b.recent.flush(m.at, b.Screen)
	if m.at.Sub(b.shown) >= barEvery {
		b.shown = m.at
		b.Screen.progress(m.at, b.progress(m.at))
	}
}

// progress returns the progress of the batch.
func (b *Batch) progress(at time.Time) Progress {
	share := 0.0
	for _, f := range b.running {
		if far := f.record.Progress; far.Size > 0 {
			share += float64(min(far.Done, far.Size)) / float64(far.Size)
		}
	}
	return b.count.progress(len(b.running), share, b.speed.Now(at, b.count.Fetched), at.Sub(b.began))
}

// conclude shows and counts e, the end of the download f.
func (b *Batch) conclude(m moment, f *Download, e *Ending) {
	result := e.Result
	b.count.Fetched += max(0, result.Fetched-f.record.Arrived)
	f.record.Path = result.Path
	f.End(m.at, result, e.Err)
	if !b.leaves(e.Err) {
		b.Page.Add(f)
	}
	x := fileRow{FileOutcome: FileOutcome{File: m.file, State: wasDone, URL: source.Mask(e.Request.URL), Path: f.record.Path}}
	if e.Err != nil {
		b.failed(m, f, e, &x)
		b.rows.add(x)
		return
	}
	b.count.well(result)
	if !b.Shows() {
		return
	}
	b.vain.add(e.Request, result)
	if result.AlreadyComplete || result.NotModified {
		x.State = wasThere
	}
	x.Size, x.Verified, x.elapsed, x.proven = result.Size, result.Proof.Verified(), result.Elapsed, f.gist(result)
	b.rows.add(x)
	if result.Due && !b.Hook {
		b.Screen.Forgotten(result.Path)
	}
	if b.Screen.Terminal && !b.Screen.Verbose && !b.Screen.Quiet {
		b.Lines.Write(doneEvent{m.head("done"), NewOutcome(e.Request, result)})
		b.recent.add(m.at, f.name(), result.Size, f.result(result), x.proven)
		return
	}
	f.done(m, e.Request, result, f.result(result))
	if b.Screen.Verbose {
		f.Shares(result.Sources)
	}
}

// failed shows that the download f failed. Interrupted downloads are only summarized at the end.
func (b *Batch) failed(m moment, f *Download, e *Ending, x *fileRow) {
	if b.leaves(e.Err) {
		b.count.left++
		x.State, x.Why = wasLeft, "exists, and is kept"
		b.Screen.Detail("%s: %s", f.record.Path, x.Why)
		return
	}
	failure, code := b.Failure(e.Err)
	line := newErrorEvent(m, failure, code)
	line.URL, line.Path = x.URL, f.record.Path
	b.Lines.Write(line)
	x.Code = code
	b.Add(code)
	if own, ok := errors.AsType[*download.Error](e.Err); ok && own.Kind == download.Interrupted {
		b.count.Unfinished++
		b.count.kept += own.Kept
		x.State, x.Why = wasInterrupted, failure.Kept
		return
	}
	b.count.lost(failure)
	x.State, x.Why = wasFailed, failure.Why
	if own, ok := errors.AsType[*download.Error](e.Err); ok && own.Hint == download.HintExists && !b.Screen.Verbose {
		b.isThere(failure)
		return
	}
	b.Screen.Fail(failure)
	if b.Screen.Verbose {
		f.Shares(e.Result.Sources)
	}
}

// Add includes code in the exit code of the batch.
func (b *Batch) Add(code int) { b.code = b.Code([]int{b.code, code}) }

func (b *Batch) leaves(err error) bool { return err != nil && b.Left != nil && b.Left(err) }

// isThere counts a file that exists but could not be verified. All such files share one message at the end: if a list
// is downloaded again from servers without digests, there may be thousands of them.
func (b *Batch) isThere(f *problem.Problem) {
	if b.inTheWay++; b.inTheWay == 1 {
		b.firstWay = f
	}
}

// thereFailure returns the problem of all files that isThere counted, or nil if it counted none.
func (b *Batch) thereFailure() *problem.Problem {
	if b.inTheWay < 2 {
		return b.firstWay
	}
	f := *b.firstWay
	f.What, f.Where = "files", ""
	f.Why = option.Grouped(b.inTheWay) + " exist, but could not be verified; the first is " + b.firstWay.Where
	f.Hint = "keep existing files with --no-clobber, replace older ones with -N, or replace all, once verified, with --overwrite"
	return &f
}

// Close shows the summary of the batch and returns the exit code. notBegun is the number of files that the batch did
// not begin to download. cause is why the command ends early, or nil.
func (b *Batch) Close(notBegun int, cause error) int {
	elapsed := time.Since(b.began)
	b.count.NotBegun = notBegun
	b.Page.notBegun(notBegun)
	b.recent.flush(b.recent.since.Add(recentTime), b.Screen)
	now := moment{at: time.Now()}
	b.Lines.Write(BatchEvent{now.head("batch"), b.count.Counts, elapsed.Seconds(), b.code,
		each(b.rows.kept, func(x fileRow) FileOutcome { return x.FileOutcome }), b.rows.more})
	table := b.rows.table(b.Screen.columns())
	for _, line := range append(table, b.count.summary(elapsed, len(table) > 0)...) {
		b.Screen.Say("%s", line)
	}
	b.vain.warn(b.Screen)
	if f := b.thereFailure(); f != nil {
		b.Screen.Fail(f)
	}
	if f := b.count.interrupted(cause); f != nil {
		b.Screen.Fail(f)
	}
	return b.code
}

// Forgotten warns that --on-complete of an earlier run failed for the file at path, and that this run has no such option.
func (s *Screen) Forgotten(path string) {
	path = source.Escape(path)
	const text = "%s: --on-complete failed last time; repeat that command, or give it up with braid parts remove %s"
	s.Warn(text, path, path)
}

// HookEnded shows r, the result of the program that was run for a file, and returns its exit code. file is the number
// of the file, or 0 outside a batch.
func HookEnded(s *Screen, lines *JSONWriter, at time.Time, file int, r hook.Result,
	failure func(error) (*problem.Problem, int)) int {
	e := hookEvent{Head: moment{at: at, file: file}.head("hook"), Path: r.Path, Elapsed: r.Took.Seconds(), Why: why(r.Err)}
	if exit, ok := errors.AsType[*exec.ExitError](r.Err); ok {
		e.Code = exit.ExitCode()
	} else if r.Err != nil {
		e.Code = -1
	}
	lines.Write(e)
	if r.Unmarked != nil {
		s.Detail("%s: cannot record that its --on-complete program has run: %v", source.Escape(r.Path), r.Unmarked)
	}
	s.pass(r.Output)
	if r.Err == nil {
		s.Detail("%s: %s finished after %s", source.Escape(r.Path), r.Program, option.TimeText(r.Took))
		return 0
	}
	f, code := failure(r.Err)
	f.What, f.Where, f.Kept = "--on-complete", r.Program, r.Path+" is in place"
	s.Fail(f)
	return code
}
