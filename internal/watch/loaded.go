package watch

import (
	"context"
	"errors"
	"fmt"

	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
)

// A Command is the command that watches, as far as watching depends on it.
type Command struct {
	Agent    string // its name and version, for object stores
	ExitCode func(download.Kind) int
	Kind     func(code int) download.Kind // that has an exit code
	Worse    func(a, b download.Kind) bool
	Ended    func(context.Context) bool   // by a signal
	Hint     func(*download.Error) string // the next step, in the words of the command
}

// A Loaded is a configuration, and where it came from.
type Loaded struct {
	*Config
	Command *Command
	Reread  func() (*Loaded, error) // reads the file again
	File    string                  // empty if the configuration is of flags
	Folder  string                  // for what is remembered
	// Said are the flags that this run has, if the configuration is of flags. The settings of everything say the others.
	Said map[string]bool

	by *Delegate // has the daemon that does the downloads; nil: the watcher does
}

// ConfigProblem returns the problem of an error of a configuration in a file.
func ConfigProblem(file string, err error) error {
	e, ok := err.(*option.Error)
	if !ok {
		return problem.Misuse(file, err.Error(), "")
	}
	where := file
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d", file, e.Line)
	}
	if file == "" {
		where = "watch"
	}
	plain := option.Error{Key: e.Key, Why: e.Why} // where has the line
	return problem.Misuse(where, plain.Error(), e.Hint)
}

// problem returns the problem of an error of a download.
func (c *Command) problem(err error) *problem.Problem {
	p := problem.OfDownload(err)
	if e, ok := errors.AsType[*download.Error](err); ok {
		p.Hint = c.Hint(e)
	}
	return p
}
