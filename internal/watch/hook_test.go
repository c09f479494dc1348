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
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shellHook returns a hook that runs a line of shell.
func shellHook(t *testing.T, line string) (hook, *bytes.Buffer) {
	var log bytes.Buffer
	return hook{
		Args: []string{"/bin/sh", "-c", line}, Env: []string{"PATH=" + os.Getenv("PATH"), "X=y"}, Dir: t.TempDir(),
		Time: time.Minute, Grace: time.Minute,
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	}, &log
}

func TestRunHook(t *testing.T) {
	h, log := shellHook(t, `echo "X is $X, HOME is ${HOME-unset}"; pwd; echo oops >&2; printf 'no end'`)
	if err := runHook(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`line="X is y, HOME is unset"`, "line=" + h.Dir, "line=oops", `line="no end"`, "program=sh"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %s:\n%s", want, log)
		}
	}
	h, _ = shellHook(t, "exit 3")
	err := runHook(t.Context(), h)
	var exit *exec.ExitError
	if e, ok := errors.AsType[*hookError](err); !ok || e.program != "sh" || !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("error is %v", err)
	}
	h.Args = []string{"/does/not/exist"}
	if err := runHook(t.Context(), h); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
}

// The logged output of a program is limited.
func TestHookOutputIsBounded(t *testing.T) {
	h, log := shellHook(t, `i=0; while [ $i -lt 1100 ]; do echo $i; i=$((i+1)); done; head -c 100000 /dev/zero | tr '\0' x; echo`)
	if err := runHook(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), "\n"); n != mostLines+1 || !strings.Contains(log.String(), "lines=1101 shown=1000") {
		t.Errorf("%d lines:\n%.200s", n, log)
	}
	l := &lineLog{log: slog.New(slog.NewTextHandler(log, nil)), program: "x"}
	log.Reset()
	for range 100 {
		fmt.Fprint(l, strings.Repeat("y", 100))
	}
	l.flush()
	if n := strings.Count(log.String(), "y"); n != mostLine {
		t.Errorf("a line of %d", n)
	}
}

// After its time limit a program is ended with its children, even if they ignore SIGTERM.
func TestHookTime(t *testing.T) {
	defer func(d time.Duration) { killTime = d }(killTime)
	killTime = 100 * time.Millisecond
	h, _ := shellHook(t, `trap "" TERM; (trap "" TERM; echo $$ >child; sleep 1000) & sleep 1000`)
	h.Time = 5 * time.Second // long enough for its children
	err := runHook(t.Context(), h)
	if err == nil || !strings.Contains(err.Error(), "not done within 5s") {
		t.Errorf("error is %v", err)
	}
	gone(t, filepath.Join(h.Dir, "child"))
}

// gone checks that the process whose number is in a file does not run.
func gone(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if syscall.Kill(pid, 0) != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d still runs", pid)
		}
	}
}

// When the watcher ends, a program has some time to finish, so that its work is not lost.
func TestHookGrace(t *testing.T) {
	for _, tt := range []struct {
		grace time.Duration
		ok    bool
	}{{time.Minute, true}, {time.Millisecond, false}} {
		h, _ := shellHook(t, `echo here >ready; while [ ! -e go ]; do sleep 0.01; done`)
		h.Grace = tt.grace
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- runHook(ctx, h) }()
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat(filepath.Join(h.Dir, "ready")); err == nil {
				break
			}
		}
		cancel()
		if tt.ok {
			if err := os.WriteFile(filepath.Join(h.Dir, "go"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := <-done; (err == nil) != tt.ok || err != nil && !strings.Contains(err.Error(), "the watcher ends") {
			t.Errorf("grace %v: %v", tt.grace, err)
		}
	}
}

// Programs receive neither the secrets of the watcher nor the service manager's socket.
func TestHookEnvironment(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"TOKEN", "NOTIFY_SOCKET", "WATCHDOG_USEC", "BRAID_WATCH_X", "BRAID_FILE_X", "OTHER"} {
		t.Setenv(name, "value")
	}
	w.updater.Hidden, w.rule.Run = []string{"TOKEN"}, []string{"x"}
	w.does()
	env := strings.Join(w.hooks[0].Env, "\n")
	for _, name := range []string{"TOKEN=", "NOTIFY_SOCKET=", "WATCHDOG_USEC=", "BRAID_WATCH_X=", "BRAID_FILE_X="} {
		if strings.Contains(env, name) {
			t.Errorf("the environment has %s", name)
		}
	}
	if !strings.Contains(env, "OTHER=value") {
		t.Error("the environment has no OTHER")
	}
}
