package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"braid/internal/mask"
)

// A Hook is a program to run.
type Hook struct {
	// Args are the program and its arguments. There is no shell.
	Args []string
	// Env is its whole environment, Dir its folder.
	Env []string
	Dir string
	// Time is how long it may take, and Grace how long after the context ended.
	Time, Grace time.Duration
	// Log is told what it prints.
	Log *slog.Logger
}

const (
	hookTime = 10 * time.Minute
	// hookGrace is how long a program may go on when the watcher is told to end. Less than that, and it would be run again.
	hookGrace = 30 * time.Second
	// mostLine and mostLines bound what is logged of a program.
	mostLine, mostLines = 1 << 10, 1000
)

// killTime is between SIGTERM and SIGKILL. Tests have less of it.
var killTime = 5 * time.Second

// A HookError says that a program did not end well.
type HookError struct {
	Program string
	Err     error
}

func (e *HookError) Error() string { return e.Program + ": " + e.Err.Error() }
func (e *HookError) Unwrap() error { return e.Err }

// hook is a program that is told of the update.
func (t *task) hook(args []string, event string) Hook {
	h := Hook{Args: args, Dir: t.rule.Dir, Time: t.rule.HookTime, Grace: hookGrace, Log: t.log}
	if h.Time == 0 {
		h.Time = hookTime
	}
	h.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(t.Hidden, name) || strings.HasPrefix(name, "BRAID_WATCH_") || name == "NOTIFY_SOCKET" || name == "WATCHDOG_USEC"
	})
	h.Env = append(h.Env,
		"BRAID_WATCH_EVENT="+event, "BRAID_WATCH_NAME="+t.update.Watch, "BRAID_WATCH_URL="+mask.URL(t.url), "BRAID_WATCH_PATH="+t.path,
		"BRAID_WATCH_FEED="+t.update.Feed, "BRAID_WATCH_REASON="+string(t.update.Reason), fmt.Sprintf("BRAID_WATCH_TRY=%d", t.update.Try),
	)
	return h
}

// RunHook runs a program in a process group of its own, and ends all of that when its time is over. The error is a *HookError.
func RunHook(ctx context.Context, h Hook) error {
	fail := func(err error) error { return &HookError{filepath.Base(h.Args[0]), err} }
	late := fmt.Errorf("not done within %v", h.Time)
	run, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), h.Time, late)
	defer cancel()
	ended, end := context.WithCancelCause(run)
	defer end(nil)
	done := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(done)
	wg.Go(func() { endAfter(ctx, h.Grace, done, end) })

	cmd := exec.CommandContext(ended, h.Args[0], h.Args[1:]...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = h.Env, h.Dir, killTime
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	out := &lineLog{log: h.Log, program: filepath.Base(h.Args[0])}
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	out.flush()
	if cmd.Process != nil && ended.Err() != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what is left of the group
	}
	switch {
	case ended.Err() != nil && err != nil:
		return fail(context.Cause(ended))
	case errors.Is(err, exec.ErrWaitDelay): // it has ended; something that it left behind has its output open
		return nil
	case err != nil:
		return fail(err)
	}
	return nil
}

// endAfter ends a program some time after ctx has ended, unless it is done before.
func endAfter(ctx context.Context, grace time.Duration, done <-chan struct{}, end context.CancelCauseFunc) {
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		end(errors.New("the watcher ends"))
	}
}

// A lineLog logs what is written to it, line by line.
type lineLog struct {
	log     *slog.Logger
	program string

	mu    sync.Mutex
	part  []byte
	lines int
}

func (l *lineLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(p)
	for {
		line, rest, found := bytes.Cut(p, []byte("\n"))
		l.part = append(l.part, line[:min(len(line), mostLine-len(l.part))]...)
		if !found {
			return n, nil
		}
		l.tell()
		p = rest
	}
}

// tell logs the line that is complete.
func (l *lineLog) tell() {
	if l.lines++; l.lines <= mostLines {
		l.log.Info("output", "program", l.program, "line", string(bytes.TrimRight(l.part, "\r")))
	}
	l.part = l.part[:0]
}

// flush logs what has no end of a line.
func (l *lineLog) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.part) > 0 {
		l.tell()
	}
	if l.lines > mostLines {
		l.log.Info("output", "program", l.program, "lines", l.lines, "shown", mostLines)
	}
}
