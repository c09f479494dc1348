package watch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"braid/antenna"
	"braid/download"
	"braid/internal/mask"
	"braid/internal/program"
)

// hook is a program to run.
type hook struct {
	// Args are the program and its arguments, passed without a shell. An argument that is exactly {} is replaced by
	// Path.
	Args []string
	Path string
	Env  []string // the complete environment
	Dir  string
	// Time is the time limit of the program. Grace is the time limit after the context is done.
	Time, Grace time.Duration
	Log         *slog.Logger // receives the program's output
}

const (
	hookTime = 10 * time.Minute
	// hookGrace is the default time that a program may continue after the watcher receives the signal to end.
	// A program that is ended early is run again later.
	hookGrace = 30 * time.Second
	// mostLine and mostLines limit the logged output of a program.
	mostLine, mostLines = 1 << 10, 1000
)

// killTime is the time between SIGTERM and SIGKILL. Tests shorten it.
var killTime = 5 * time.Second

// hookError reports that a program failed.
type hookError struct {
	program string
	err     error
}

func (e *hookError) Error() string { return e.program + ": " + e.err.Error() }
func (e *hookError) Unwrap() error { return e.err }

// hook returns the hook that runs args for an event of the update. The variables that describe the file have the same
// names as for --on-complete.
func (t *task) hook(args []string, event string) hook {
	h := hook{Args: args, Path: t.path, Dir: t.rule.Dir, Time: t.rule.HookTime, Grace: cmp.Or(t.Grace, hookGrace), Log: t.log}
	if h.Time == 0 {
		h.Time = hookTime
	}
	h.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(t.Hidden, name) || slices.Contains(managers, name) || slices.Contains(ownVariables, name) ||
			strings.HasPrefix(name, "BRAID_WATCH_") || strings.HasPrefix(name, "BRAID_FILE_")
	})
	h.Env = append(h.Env,
		"BRAID_WATCH_EVENT="+event, "BRAID_WATCH_NAME="+t.update.Watch, "BRAID_WATCH_FEED="+t.update.Feed,
		"BRAID_WATCH_REASON="+string(t.update.Reason), fmt.Sprintf("BRAID_WATCH_TRY=%d", t.update.Try),
		"BRAID_FILE_PATH="+t.path, "BRAID_FILE_URL="+mask.URL(t.url),
	)
	h.Env = append(h.Env, t.releaseVariables()...)
	return h
}

// scripts returns the paths in the words of the programs of c, except folders: each may be a program or its script.
func scripts(c *Loaded) (paths []string) {
	for i := range c.Watches {
		for _, word := range slices.Concat(c.Watches[i].Run, c.Watches[i].OnFailure) {
			if !filepath.IsAbs(word) {
				word = filepath.Join(c.Watches[i].Dir, word) // programs run in the folder of the watch
			}
			if info, err := os.Stat(word); err != nil || !info.IsDir() {
				paths = append(paths, word)
			}
		}
	}
	return paths
}

// managers are variables of the service manager. Programs do not get them, because only the watcher may notify the
// manager.
var managers = []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}

// fileVariables returns the environment variables that describe the current file.
func (t *task) fileVariables(o *antenna.Outcome) []string {
	modified := ""
	if !o.LastModified.IsZero() {
		modified = o.LastModified.UTC().Format(time.RFC3339)
	}
	return []string{
		fmt.Sprintf("BRAID_FILE_SIZE=%d", o.Size), "BRAID_FILE_SHA256=" + o.Digest,
		fmt.Sprintf("BRAID_FILE_VERIFIED=%t", o.Evidence != ""),
		"BRAID_FILE_EVIDENCE=" + o.Evidence, "BRAID_FILE_LAST_MODIFIED=" + modified, "BRAID_WATCH_OLD=" + t.old,
	}
}

// runHook runs a program and ends it when its time limit is reached. The error is a *hookError.
func runHook(ctx context.Context, h hook) error {
	late := fmt.Errorf("not done within %v", h.Time)
	run, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), h.Time, late)
	defer cancel()
	run, end := context.WithCancelCause(run)
	defer end(nil)
	done := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(done)
	wg.Go(func() { endAfter(ctx, h.Grace, done, end) })

	out := &lineLog{log: h.Log, program: filepath.Base(h.Args[0])}
	defer out.flush()
	p := program.Program{Args: h.Args, Path: h.Path, Env: h.Env, Dir: h.Dir, Out: out, Grace: killTime}
	if err := p.Run(run); err != nil {
		return &hookError{out.program, err}
	}
	return nil
}

// inTurn wraps run so that at most cap(turns) programs run at once.
func inTurn(run func(context.Context, hook) error, turns chan struct{}) func(context.Context, hook) error {
	return func(ctx context.Context, h hook) error {
		select {
		case turns <- struct{}{}:
			defer func() { <-turns }()
			return run(ctx, h)
		case <-ctx.Done():
			return &download.Error{Kind: download.Interrupted, What: "run", Where: filepath.Base(h.Args[0]), Err: ctx.Err()}
		}
	}
}

// endAfter calls end when ctx has been done for the duration grace, unless done is closed before.
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

// lineLog is a writer that logs each line.
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
		l.logLine()
		p = rest
	}
}

// logLine logs the complete line in part.
func (l *lineLog) logLine() {
	if l.lines++; l.lines <= mostLines {
		l.log.Info("output", "program", l.program, "line", string(bytes.TrimRight(l.part, "\r")))
	}
	l.part = l.part[:0]
}

// flush logs the last line if it has no line end, and the number of lines if some were not logged.
func (l *lineLog) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.part) > 0 {
		l.logLine()
	}
	if l.lines > mostLines {
		l.log.Info("output", "program", l.program, "lines", l.lines, "shown", mostLines)
	}
}
