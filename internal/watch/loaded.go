package watch

import (
	"context"
	"errors"
	"fmt"

	"braid/download"
	"braid/internal/hint"
	"braid/internal/option"
	"braid/internal/problem"
)

// A Command has the properties of the command that watches.
type Command struct {
	Agent    string // program name and version, for object stores
	ExitCode func(download.Kind) int
	Kind     func(code int) download.Kind // returns the kind with that exit code
	Worse    func(a, b download.Kind) bool
	Ended    func(context.Context) bool // reports whether a signal ended the context
}

// A Loaded is a configuration and its origin.
type Loaded struct {
	*Config
	Command *Command
	Reread  func() (*Loaded, error) // reads the file again
	File    string                  // empty if the configuration is from flags
	Folder  string                  // folder of the state
	// Said has the flags that the user set, if the configuration is from flags. For the other options, the general
	// settings apply.
	Said map[string]bool

	by *Delegate // has the daemon that downloads; nil: the watcher downloads
}

// ConfigProblem converts an error of a configuration in a file to a problem.
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
	plain := option.Error{Key: e.Key, Why: e.Why} // without the line, which is in where
	return problem.Misuse(where, plain.Error(), e.Hint)
}

// problem converts an error of a download to a problem.
func (c *Command) problem(err error) *problem.Problem {
	p := problem.OfDownload(err)
	if e, ok := errors.AsType[*download.Error](err); ok {
		p.Hint = hint.Of(e)
	}
	return p
}
