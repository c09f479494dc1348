// Package program runs a program of the user's for a file, without a shell: names of files come from outside, and in a
// shell's text they could be commands.
//
// It refuses to know what a program is for; what it is told of the file is in its environment, and a word {} among its
// arguments is the path.
package program

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"slices"
	"time"
)

// A Program is one to run.
type Program struct {
	// Args are the program and its arguments; one that is exactly {} is Path.
	Args []string
	Path string
	// Env is the whole environment, and Dir the folder; empty is that of this process.
	Env []string
	Dir string
	// Out gets what the program prints. It has nothing to read.
	Out io.Writer
	// Grace is how long it may take to end when it is told to. If zero, it is 5 s.
	Grace time.Duration
}

const grace = 5 * time.Second

// Run runs the program and waits for it. When ctx ends, it and what it has started are told to end, and then made to;
// the error is then why ctx ended.
func (p *Program) Run(ctx context.Context) error {
	args := slices.Clone(p.Args)
	for i := range args[1:] {
		if args[i+1] == "{}" {
			args[i+1] = p.Path
		}
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = p.Env, p.Dir, p.Out, p.Out
	group(cmd)
	if cmd.WaitDelay = p.Grace; p.Grace == 0 {
		cmd.WaitDelay = grace
	}
	err := cmd.Run()
	if cmd.Process != nil && ctx.Err() != nil {
		killGroup(cmd) // what is left of it
	}
	switch {
	case errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil: // it has ended; something that it left behind has its output open
		return nil
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return err
}
