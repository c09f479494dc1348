//go:build linux || darwin

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"braid/internal/test/mirrortest"
)

// TestStatusSignal: SIGUSR1 is answered with one line for each signal, with -q, too, and nothing ends by it.
func TestStatusSignal(t *testing.T) {
	const size, sent = 3 << 20, 2 << 20
	one := regexp.MustCompile(`^a: 2 MiB of 3 MiB \(66 %\), .*\n$`)
	for line, want := range map[string]*regexp.Regexp{
		"get -q":    one,
		"get -q -i": regexp.MustCompile(`^0 of 2 files, .*\n$`),
	} {
		s := mirrortest.New(t, mirrortest.Generate(size, 3), mirrortest.Name("a"), mirrortest.Digest(),
			mirrortest.StallAfter(sent))
		dir := t.TempDir()
		words := append(strings.Fields(line), s.URL)
		if strings.HasSuffix(line, "-i") {
			list := filepath.Join(dir, "list")
			if err := os.WriteFile(list, []byte(s.URL+"\n  out=b\n"+s.URL+"\n  out=c\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			words = append(strings.Fields(line), list)
		}
		asked := &lockedBuffer{}
		cmd := start(t, dir, asked, words...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, "bytes", func() bool { return s.Sent() >= sent })
		waitFor(t, "an answer", func() bool { // until it has heard of all that was sent
			before := len(asked.String())
			cmd.Process.Signal(syscall.SIGUSR1)
			waitFor(t, "a line", func() bool { return len(asked.String()) > before })
			return want.MatchString(asked.String()[before:])
		})
		cmd.Process.Signal(syscall.SIGTERM) // while the server is silent, so that the file cannot be complete before
		cmd.Wait()
		s.Set(mirrortest.StallAfter(-1))
		if code := cmd.ProcessState.ExitCode(); code != 143 {
			t.Errorf("%s: exit code %d: %s", line, code, asked.String())
		}
	}
}

// TestStatusSignalElsewhere: a command that has nothing to tell goes on.
func TestStatusSignalElsewhere(t *testing.T) {
	var stderr bytes.Buffer
	cmd := start(t, t.TempDir(), &stderr, "serve", "--listen", "127.0.0.1:0", ".")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1)
	if _, err := out.Read(buf); err != nil { // it serves
		t.Fatal(err, stderr.String())
	}
	for range 3 {
		cmd.Process.Signal(syscall.SIGUSR1)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Wait()
	if cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
		t.Errorf("it was ended by %v", cmd.ProcessState)
	}
}
