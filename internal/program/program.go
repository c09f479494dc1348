// Package program runs a user's program for a file, without a shell: file names come from outside, and a shell could
// interpret them as commands.
//
// The package does not know the purpose of the program. Information about the file is passed in the environment, and an
// argument {} is replaced by the path.
package program

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"slices"
	"time"
)

// Program is a program to run.
type Program struct {
	// Args are the program and its arguments. An argument that is exactly {} is replaced by Path.
	Args []string
	Path string
	// Env is the whole environment, and Dir the working directory. If empty, the values of this process are used.
	Env []string
	Dir string
	// Out receives the output of the program. The input of the program is empty.
	Out io.Writer
	// Grace is the time limit for the program to end after the context of Run is done. If zero, it is 5 seconds.
	Grace time.Duration
}

const grace = 5 * time.Second

// Run runs the program and waits for it. When ctx is done, Run asks the program and its children to end, and kills them
// after Grace. The error is then the cause of ctx.
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
		killGroup(cmd) // kill the remaining children
	}
	switch {
	// The program has ended, but a child that it left behind keeps its output open.
	case errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil:
		return nil
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return err
}
