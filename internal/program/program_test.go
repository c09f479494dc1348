package program

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	path := "$(touch x) ; `touch y`"
	p := Program{
		Args: []string{"/bin/sh", "-c", `echo "$1|$2|$X|${HOME-unset}"; pwd; cat; echo oops >&2`, "sh", "{}", "a{}"},
		Path: path, Env: []string{"PATH=" + os.Getenv("PATH"), "X=y"}, Dir: dir, Out: &out,
	}
	if err := p.Run(t.Context()); err != nil || out.String() != path+"|a{}|y|unset\n"+dir+"\noops\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if names, _ := os.ReadDir(dir); len(names) > 0 {
		t.Errorf("a name was a command: %v", names)
	}
	p.Args = []string{"/bin/sh", "-c", "exit 3"}
	var exit *exec.ExitError
	if err := p.Run(t.Context()); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("error is %v", err)
	}
	p.Args = []string{"/does/not/exist"}
	if err := p.Run(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
}

// A program and its children are ended, even if they ignore SIGTERM.
func TestEnd(t *testing.T) {
	dir := t.TempDir()
	p := Program{
		Args: []string{"/bin/sh", "-c",
			`trap "" TERM; (trap "" TERM; sleep 1000) & echo $! >child.tmp; mv child.tmp child; wait; sleep 1000`},
		Env: os.Environ(), Dir: dir, Grace: 50 * time.Millisecond,
	}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	child := filepath.Join(dir, "child")
	until(t, func() bool { _, err := os.Stat(child); return err == nil })
	cancel(why)
	if err := <-done; !errors.Is(err, why) {
		t.Errorf("error is %v", err)
	}
	text, err := os.ReadFile(child)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return !runs(pid) })
}

// runs reports whether a process exists and is no zombie, which may not be reaped in a container.
func runs(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(rest, "Z")
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited too long")
		}
	}
}

// A child that keeps the output open does not delay Run.
func TestLeftBehind(t *testing.T) {
	var out bytes.Buffer
	// The grace includes the time for reading the output.
	p := Program{Args: []string{"/bin/sh", "-c", "sleep 300 & echo $!"}, Env: os.Environ(), Out: &out, Grace: 3 * time.Second}
	if err := p.Run(t.Context()); err != nil {
		t.Error(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil || !runs(pid) {
		t.Fatalf("%q, %v", out.String(), err)
	}
	syscall.Kill(pid, syscall.SIGKILL)
}
