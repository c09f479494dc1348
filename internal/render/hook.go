package render

import (
	"errors"
	"os/exec"
	"time"

	"braid/internal/hook"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/source"
)

// Forgotten warns that the hook of an earlier run failed for a file, and that this run has none.
func (s *Screen) Forgotten(path string) {
	path = source.Escape(path)
	const text = "%s: --on-complete failed last time; repeat that command, or give it up with braid parts remove %s"
	s.Warn(text, path, path)
}

// HookEnded shows the result of the hook of a file and returns its exit code. The number of the file is 0 outside a batch.
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
		s.Detail("%s: that its program has run cannot be told: %v", source.Escape(r.Path), r.Unmarked)
	}
	s.pass(r.Output)
	if r.Err == nil {
		s.Detail("%s: %s has run in %s", source.Escape(r.Path), r.Program, option.TimeText(r.Took))
		return 0
	}
	f, code := failure(r.Err)
	f.What, f.Where, f.Kept = "--on-complete", r.Program, r.Path+" is in place"
	s.Fail(f)
	return code
}
