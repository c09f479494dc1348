package cli

import (
	"context"
	"errors"
	"slices"

	"braid/download"
	"braid/internal/job"
	"braid/internal/plug/objectstore"
	"braid/internal/problem"
	"braid/internal/render"
)

type verifyCommand struct {
	job.Check
	streams
	outputFlags
	Repair bool

	screen  *render.Screen
	lines   *render.JSONWriter
	several bool
}

func newVerify(s streams) (action, targets) {
	v := &verifyCommand{Check: job.Check{Agent: agent()}, streams: s, outputFlags: newOutputFlags(s)}
	return v.run, targetsOf(v)
}

// run verifies the files at paths. Its error carries the exit code that takes precedence.
func (v *verifyCommand) run(ctx context.Context, paths []string) error {
	v.screen = v.outputFlags.screen(v.streams)
	if v.JSON {
		v.lines = render.NewJSONWriter(v.streams.out)
	}
	v.Sites = job.NewSites(configurationOf(ctx))
	if text := configurationOf(ctx).Warning(); text != "" {
		v.screen.Warn("%s", text)
		v.lines.Note(text)
	}
	client, err := v.NewClient(forgeTokens())
	if err != nil {
		return v.leave([]int{v.fail("", problemOf(ctx, err))})
	}
	defer v.Sites.Limits.Follow()()
	defer client.HTTP.CloseIdle()
	if err := untilDone(ctx, func() error { return v.prepare(ctx, client, paths) }); err != nil {
		return v.leave([]int{v.fail("", verifyFailure(ctx, err))})
	}
	if len(paths) == 0 {
		if paths, err = v.Listed(); err != nil {
			return v.leave([]int{v.fail("", verifyFailure(ctx, err))})
		}
	}
	var codes []int
	for _, path := range paths {
		if codes = append(codes, v.file(ctx, client, path)); ctx.Err() != nil {
			break
		}
	}
	for _, text := range v.Notes.Take() {
		v.screen.Warn("%s", text)
	}
	return v.leave(codes)
}

func (v *verifyCommand) leave(codes []int) error {
	if code := batchCode(codes); code != exitDone {
		return reported(code)
	}
	return outputFailure(v.lines.Err())
}

// file verifies the file at path and returns the exit code.
func (v *verifyCommand) file(ctx context.Context, client *download.Client, path string) int {
	r, err := v.Request(path)
	if err != nil {
		return v.fail(path, verifyFailure(ctx, err))
	}
	w := render.NewDownload(v.screen, v.lines, v.several)
	w.Reading, w.Asked = true, v.streams.asked
	var verdict download.Verdict
	w.During(func(observe func(download.Event)) {
		r.Observe = observe
		verdict, err = client.Verify(ctx, r)
	})
	switch {
	case err == nil:
		w.Right(r, verdict)
		return exitDone
	case v.Repair && verdict.Repairable():
		w.Wrong(verdict, verifyFailure(ctx, err).Why)
		return v.mend(ctx, client, r, verdict)
	}
	w.Damaged(verdict)
	return v.fail(path, verifyFailure(ctx, err))
}

// mend repairs the file of r, which failed verification as verdict states, and returns the exit code.
func (v *verifyCommand) mend(ctx context.Context, client *download.Client, r download.Request, verdict download.Verdict) int {
	w := render.NewDownload(v.screen, v.lines, v.several)
	w.Repairing, w.Asked = true, v.streams.asked
	var result download.Result
	var err error
	w.During(func(observe func(download.Event)) { result, err = client.Repair(ctx, verdict, observe) })
	if err != nil {
		w.Shares(result.Sources)
		return v.fail(verdict.Path, downloadProblem(ctx, err))
	}
	w.Repaired(r, result)
	if v.terminal || v.Verbose {
		w.Shares(result.Sources)
	}
	return exitDone
}

// fail reports the failure f of the file at path and returns its exit code.
func (v *verifyCommand) fail(path string, f *problem.Problem) int {
	v.lines.Fail(f, exitCode(f), path)
	v.screen.Fail(f)
	return exitCode(f)
}

// verifyFailure converts err, the error of a verification, to a problem. The problem mentions kept bytes only if bytes
// were kept.
func verifyFailure(ctx context.Context, err error) *problem.Problem {
	f := downloadProblem(ctx, err)
	if e, ok := errors.AsType[*download.Error](err); ok && e.Kept == 0 {
		f.Kept = ""
	}
	return f
}

// check rejects flags that contradict each other or the operands.
func (v *verifyCommand) check(paths []string) error {
	several := len(paths) != 1
	return firstMisuse([]wrongUse{
		{len(paths) == 0 && v.Checksums == "", "verify", "missing file name",
			"name a file, or a list of files with --checksums LIST; see braid verify --help"},
		{several && v.DigestOption() != "", v.DigestOption(), "this is the digest of one file, but several files are given",
			"give a digest for each file with --checksums LIST"},
		{several && v.Checksums == "" && v.NamesOne(), "--signature",
			"this signature is of one file, but several files are given",
			"for a signature beside each file, use --signature .asc"},
		{several && v.FromOneFile(), "--from", "this URL is of one file, but several files are given",
			"give the URL of the folder of the files, with a slash at the end, or a Metalink document that describes " +
				"all of them"},
		{v.Repair && v.From == "", "--repair", "missing source for the repair", "name a source with --from URL|FILE.meta4"},
		{v.Quiet && v.Verbose, "-q", "contradicts -v", ""},
		{v.Repair && slices.ContainsFunc(paths, objectstore.IsURL), "--repair",
			"objects cannot be repaired, because no part of an object can be replaced",
			"replace the whole object with braid get --overwrite --to s3://BUCKET/PREFIX/ URL"},
		{slices.ContainsFunc(paths, func(p string) bool { return job.IsURL(p) && !objectstore.IsURL(p) }),
			"verify", "a URL is not a file to check",
			"to check a file on disk against a server, use braid verify --from URL FILE; to download and check, use " +
				"braid get URL"},
	})
}

// prepare checks the flags, reads the inputs that all files share, and shows the notes about them.
func (v *verifyCommand) prepare(ctx context.Context, client *download.Client, paths []string) error {
	if err := v.check(paths); err != nil {
		return err
	}
	v.several = len(paths) != 1
	if err := v.Prepare(ctx, client); err != nil {
		return err
	}
	v.tell()
	return nil
}

// tell shows the warnings and notes about the list of digests and the document.
func (v *verifyCommand) tell() {
	for _, text := range v.Sums.Warnings {
		v.screen.Say("%s", text)
	}
	notes := v.Sums.Notes
	if d := v.Document; d != nil {
		for _, note := range slices.Concat(d.Warnings, d.Notes) {
			notes = append(notes, d.Name+": "+note)
		}
	}
	for _, text := range notes {
		v.screen.Detail("%s", text)
	}
}
