package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"braid/download"
	"braid/internal/job"
	"braid/internal/problem"
	"braid/internal/render"
	"braid/source"
)

// run downloads the files that the operands name, or adds them to a job queue.
func (g *getCommand) run(ctx context.Context, words []string) error {
	g.yield(configurationOf(ctx))
	if configurationOf(ctx).Line["queue"] { // in the environment the option is meant for watchers and workers
		return g.enqueue(ctx, words)
	}
	return g.carryOut(ctx, words, func(ctx context.Context, client *download.Client) (*job.List, error) {
		if err := g.check(words); err != nil {
			return nil, err
		}
		return job.NewList(ctx, g.Job, client, words)
	})
}

// carryOut downloads the files of the list that make returns. words are the operands of the command.
func (g *getCommand) carryOut(ctx context.Context, words []string,
	make func(context.Context, *download.Client) (*job.List, error)) error {
	g.screen = g.outputFlags.screen(g.streams)
	if g.JSON {
		g.lines = render.NewJSONWriter(g.streams.out)
	}
	g.Job.HTTP.Sites, g.Job.Due = job.NewSites(configurationOf(ctx)), g.OnComplete.Given()
	if text := configurationOf(ctx).Warning(); text != "" {
		g.screen.Warn("%s", text)
		g.lines.Note(text)
	}
	ctx, stop := within(ctx, time.Duration(g.MaxTime))
	defer stop()
	var client *download.Client
	err := untilDone(ctx, func() (err error) { client, err = g.Job.Client(words...); return err })
	if err != nil {
		return g.report(downloadProblem(ctx, err))
	}
	client.ForgeTokens = forgeTokens()
	if err := job.AdoptState(client.State, job.CacheFolder()); err != nil {
		g.screen.Detail("%v", err)
	}
	defer g.Job.HTTP.Sites.Limits.Follow()()
	defer client.HTTP.CloseIdle()
	var list *job.List
	err = untilDone(ctx, func() (err error) { list, err = make(ctx, client); return err })
	if err == nil && g.DryRun {
		return g.leave(g.planAll(ctx, client, list))
	}
	defer g.folders.tidy()
	if err == nil {
		err = g.makeFolder()
	}
	if err == nil {
		g.page, err = render.NewPage(g.Report, g.Job.Transfer.LimitRate)
	}
	if err != nil {
		if g.ended != nil {
			g.ended(-1, download.Request{}, download.Result{}, err)
		}
		return g.report(downloadProblem(ctx, err))
	}
	defer g.remember(client)
	defer func() {
		for _, text := range g.Job.Notes.Take() {
			g.screen.Warn("%s", text)
		}
	}()
	return g.finish(ctx, g.all(ctx, client, list))
}

// all downloads the files in list and returns the exit code for all.
func (g *getCommand) all(ctx context.Context, client *download.Client, list *job.List) int {
	code := g.showNotes(ctx, list)
	if list.Files == 1 {
		for r := range g.folders.noted(list.All()) {
			return batchCode([]int{code, g.one(ctx, client, r)})
		}
		return batchCode([]int{code, g.told(ctx, list.Err)})
	}
	if list.Files == 0 {
		return code
	}
	return batchCode([]int{code, g.several(ctx, client, list)})
}

// remember saves client.State for the next run. If that fails, it warns at most, and the exit code stays.
func (g *getCommand) remember(client *download.Client) {
	client.State.Save()
	if g.Job.Newer.IfNewer && client.State.Dir == "" {
		g.screen.Warn("-N: cannot save the ETag and date of the file: neither HOME nor XDG_STATE_HOME is set; the next " +
			"run may download the file again")
	}
	if err := client.State.Lost(); err != nil {
		g.screen.Warn("-N: cannot save the ETag and date of the file: %v; the next run may download the file again", err)
	}
}

// finish writes the report page, whatever code is. code is the exit code of the downloads. An error of the report
// decides the exit code only if all downloads succeeded. The downloaded files stay.
func (g *getCommand) finish(ctx context.Context, code int) error {
	if err := g.page.Write(); err != nil {
		told := g.report(problemOf(ctx, err))
		if code == exitDone {
			return told
		}
	} else if g.page != nil {
		g.screen.Detail("report: %s", g.page.URL())
	}
	return g.leave(code)
}

func (g *getCommand) leave(code int) error {
	if code != exitDone {
		return reported(code)
	}
	return nil
}

// makeFolder creates the folder of -d, unless -o has an absolute path.
func (g *getCommand) makeFolder() error {
	if g.Job.Dir == "" || filepath.IsAbs(g.Job.Out) {
		return nil
	}
	g.folders.note(g.Job.Dir)
	if err := os.MkdirAll(g.Job.Dir, 0o777); err != nil {
		return problem.Local("folder", g.Job.Dir, err)
	}
	return nil
}

// one downloads the file of r, shows the result and returns the exit code.
func (g *getCommand) one(ctx context.Context, client *download.Client, r download.Request) int {
	w := render.NewDownload(g.screen, g.lines, false)
	w.Asked, w.Table, r.Detail = g.streams.asked, g.Verbose, g.Verbose || g.page != nil
	var result download.Result
	var err error
	w.During(func(observe func(download.Event)) {
		r.Observe = observe
		result, err = client.Get(ctx, r)
	})
	w.End(time.Now(), result, err)
	g.folders.made(result.Folders)
	if g.leaves(err) {
		w.Left()
		return exitDone
	}
	if e, ok := errors.AsType[*download.SeveralError](err); ok {
		return g.severalInOne(ctx, client, e.Document, r)
	}
	if g.ended != nil {
		g.ended(0, r, result, err)
	}
	g.page.Add(w)
	if err != nil {
		w.Shares(result.Sources)
		f := downloadProblem(ctx, err)
		// a pipe's reader already has the bytes
		if r.Stream != nil && f.Kind == download.Mismatch && len(render.Bringers(result)) > 1 {
			f.Hint = "a mirror sent wrong bytes; with -o NAME, braid can replace them"
		}
		g.report(f)
		return exitCode(f)
	}
	w.Done(r, result)
	if g.terminal || g.Verbose {
		w.Shares(result.Sources)
	}
	code := exitDone
	if result.Due && !g.OnComplete.Given() {
		g.screen.Forgotten(result.Path)
	}
	if g.OnComplete.Wanted(result) {
		code = render.HookEnded(g.screen, g.lines, time.Now(), 0, g.OnComplete.Complete(ctx, g.streams.err, r, result),
			func(err error) (*problem.Problem, int) { return failureOf(ctx, err) })
	}
	return batchCode([]int{code, g.written(ctx)})
}

// written reports an error in writing the output of --json and returns its exit code.
func (g *getCommand) written(ctx context.Context) int {
	err := g.lines.Err()
	if err == nil {
		return exitDone
	}
	f := problemOf(ctx, outputFailure(err))
	g.screen.Fail(f)
	return exitCode(f)
}

// failureOf converts an error of a download to a problem, and returns the problem and its exit code.
func failureOf(ctx context.Context, err error) (*problem.Problem, int) {
	f := downloadProblem(ctx, err)
	return f, exitCode(f)
}

// told reports err as the failure of a download and returns its exit code.
func (g *getCommand) told(ctx context.Context, err error) int {
	f := downloadProblem(ctx, err)
	g.report(f)
	return exitCode(f)
}

// report prints f and returns its exit code as an error.
func (g *getCommand) report(f *problem.Problem) error {
	g.lines.Fail(f, exitCode(f), "")
	g.screen.Fail(f)
	return reported(exitCode(f))
}

// folders records the folders that did not exist before the downloads. Recorded folders that are empty at the end are
// removed, so that a run that stores no file leaves nothing behind.
type folders struct {
	missing map[string]bool
	last    string // the folder checked last
}

// note records dir and its parents that are missing.
func (f *folders) note(dir string) {
	dir = filepath.Clean(dir)
	if dir == f.last {
		return
	}
	f.last = dir
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !os.IsNotExist(err) || filepath.Dir(dir) == dir {
			return
		}
		if f.missing == nil {
			f.missing = map[string]bool{}
		}
		f.missing[dir] = true
	}
}

// made records folders that a download has created itself. A document that a server sent instead of a file may name
// files in such folders.
func (f *folders) made(paths []string) {
	for _, path := range paths {
		if f.missing == nil {
			f.missing = map[string]bool{}
		}
		f.missing[path] = true
	}
}

// noted returns requests, and calls note for the folder of each request before the request is used.
func (f *folders) noted(requests iter.Seq[download.Request]) iter.Seq[download.Request] {
	return func(yield func(download.Request) bool) {
		for r := range requests {
			if r.Stream == nil && r.Store == nil {
				f.note(filepath.Dir(filepath.Join(r.Dir, filepath.FromSlash(cmp.Or(r.Name, "x")))))
			}
			if !yield(r) {
				return
			}
		}
	}
}

// tidy removes the recorded folders that are empty, deepest first.
func (f *folders) tidy() {
	paths := slices.SortedFunc(maps.Keys(f.missing), func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeDir {
			os.Remove(path) // fails if the folder is not empty
		}
	}
}

// forgeTokens returns the user's access tokens for forges, by host. Lookups of digests use them. A daemon or a worker
// gets no tokens, because its clients could read private repositories with them.
func forgeTokens() map[string]string {
	if token := os.Getenv("GITHUB_TOKEN"); job.IsToken(token) {
		return map[string]string{"api.github.com": token}
	}
	return nil
}

// severalInOne downloads the files that d describes. A server sent the document d instead of the file of r.
func (g *getCommand) severalInOne(ctx context.Context, client *download.Client, d *download.Document, r download.Request) int {
	list, err := job.NewListOf(g.Job, d, r)
	if err != nil {
		return g.told(ctx, err)
	}
	return g.all(ctx, client, list)
}

// showNotes shows the notes of documents, and the files in documents that cannot be downloaded. It returns the exit
// code for these files.
func (g *getCommand) showNotes(ctx context.Context, list *job.List) int {
	code := exitDone
	tell := func(say func(string, ...any), notes []string) {
		for _, n := range notes {
			say("%s", n)
			g.lines.Note(source.Escape(n))
		}
	}
	tell(g.screen.Say, list.Warnings)
	tell(g.screen.Detail, list.Notes)
	for _, err := range list.Lost {
		f := downloadProblem(ctx, err)
		g.report(f)
		code = batchCode([]int{code, exitCode(f)})
	}
	return code
}
