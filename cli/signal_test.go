package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
)

func TestObey(t *testing.T) {
	for _, tt := range []struct {
		signal syscall.Signal
		code   int
		text   string
	}{{syscall.SIGINT, 130, "interrupted"}, {syscall.SIGTERM, 143, "terminated"}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		signals := make(chan os.Signal, 2)
		signals <- tt.signal
		signals <- tt.signal
		exited := 0
		obey(signals, nil, cancel, func(code int) { exited = code })
		if code, ok := signalCode(ctx); !ok || code != tt.code || exited != tt.code {
			t.Errorf("%v: exit code %d, %t, at once %d", tt.signal, code, ok, exited)
		}
		if err := context.Cause(ctx); err.Error() != tt.text || !errors.Is(err, context.Canceled) {
			t.Errorf("%v: %v", tt.signal, err)
		}
	}
	if _, ok := signalCode(t.Context()); ok {
		t.Error("a context that no signal ended has an exit code")
	}
}

// TestInterruptedRead checks that the first signal ends a command that waits for input from another program.
func TestInterruptedRead(t *testing.T) {
	t.Chdir(t.TempDir())
	in, other := io.Pipe()
	t.Cleanup(func() { other.Close() })
	if err := os.WriteFile("a", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo("fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if f, err := os.OpenFile("fifo", os.O_RDWR, 0); err == nil {
			defer f.Close()
		}
	})
	for _, line := range []string{
		"get -i -", "get --checksums fifo http://h/a", "get --key fifo http://h/a", "get --cacert fifo http://h/a",
		"verify --checksums fifo a",
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(&signalError{syscall.SIGTERM})
		ended := make(chan int, 1)
		go func() {
			ended <- run(ctx, append([]string{"braid"}, strings.Fields(line)...), streams{in: in, out: io.Discard,
				err: io.Discard})
		}()
		select {
		case code := <-ended:
			if code != 143 {
				t.Errorf("%s: exit code %d, want 143", line, code)
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("%s: it still waits", line)
		}
	}
}

// start runs the command in a process of its own, in dir.
func start(t *testing.T, dir string, stderr io.Writer, words ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], words...)
	cmd.Dir, cmd.Stderr = dir, stderr
	cmd.Env = append(os.Environ(), asCommand+"=1", "XDG_CACHE_HOME="+filepath.Join(dir, ".cache"))
	return cmd
}

// waitFor asks until it is true, or the test has taken too long.
func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: waited too long", what)
		}
	}
}

// begun reports whether some of a file is here, and its journal.
func begun(part string) bool {
	here, err := os.Stat(part)
	journal, without := os.Stat(part + ".journal")
	return err == nil && without == nil && here.Size() >= 1<<20 && journal.Size() > 0
}

// TestInterrupt: a signal ends a download in good order; what is there is kept, and the same command goes on.
func TestInterrupt(t *testing.T) {
	const size, sent = 3 << 20, 2 << 20
	for _, tt := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}} {
		s := mirrortest.New(t, mirrortest.Generate(size, 3), mirrortest.Name("a"), mirrortest.Digest(),
			mirrortest.StallAfter(sent))
		dir := t.TempDir()
		var stderr bytes.Buffer
		cmd := start(t, dir, &stderr, "get", s.URL)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, "bytes on disk", func() bool { return begun(filepath.Join(dir, "a.part")) && s.Sent() == sent })
		cmd.Process.Signal(tt.signal)
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != tt.code ||
			!strings.Contains(stderr.String(), "kept in a.part; run the same command to go on)") {
			t.Errorf("%v: exit code %d, %q", tt.signal, code, stderr.String())
		}
		s.Set(mirrortest.StallAfter(-1))
		if code, out, err := get(t, dir, "--json", s.URL); code != exitDone || strings.Contains(out, `"resumed":0`) {
			t.Errorf("again: exit code %d, %s, %s", code, out, err)
		}
	}
}

// TestProcessTitle_Rule62: others on the machine do not see passwords and queries in the list of processes.
func TestProcessTitle_Rule62(t *testing.T) {
	s := mirrortest.New(t, []byte("abc"), mirrortest.Name("a"), mirrortest.Login("Basic", "me", "s3cret"),
		mirrortest.StallAfter(1))
	cmd := start(t, t.TempDir(), io.Discard, "get", "-H", "X-Key: s3cret", "-u", "me:s3cret",
		strings.Replace(s.URL, "//", "//you:s3cret@", 1)+"?key=s3cret")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	waitFor(t, "request", func() bool { return len(s.Requests()) > 1 })
	title, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(title, []byte("s3cret")) || !bytes.Contains(title, []byte("me:******")) ||
		!bytes.Contains(title, []byte(s.Addr)) {
		t.Errorf("the title of the process is %q", title)
	}
	if r := s.Requests()[1]; r.Header.Get("X-Key") != "s3cret" || !strings.HasPrefix(r.Header.Get("Authorization"), "Basic ") {
		t.Errorf("the server was asked with %v", r.Header)
	}
}
