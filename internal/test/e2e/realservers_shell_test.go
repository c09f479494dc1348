//go:build realservers

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// completions are what a person types before the tab key, and what then stands in the line, in every shell.
var completions = []struct{ typed, want string }{
	{"braid prob", "braid probe "},
	{"braid feed che", "braid feed check "},
	{"braid get --requ", "braid get --require "},
	{"braid get --require dig", "braid get --require digest "},
	{"braid get --require=sig", "braid get --require=signature "},
	{"braid get --sha256 00 --progress=pl", "braid get --sha256 00 --progress=plain "},
	{"braid get --no-ref", "braid get --no-referer "},
	{"braid feed convert --to at", "braid feed convert --to atom "},
	{"braid completion fi", "braid completion fish "},
	{"braid get --keyring onl", "braid get --keyring only-one.asc "},
	{"braid get --keyring=onl", "braid get --keyring=only-one.asc "},
	{"braid verify onl", "braid verify only-one.asc "},
	{"braid get https://example.org/a --out=onl", "braid get https://example.org/a --out=only-one.asc "},
	{"braid serve fol", "braid serve folder/"},
	{"help=x braid get --no-clob", "help=x braid get --no-clobber "},
}

// TestRealShells types lines into shells as a person does, and presses tab.
func TestRealShells(t *testing.T) {
	t.Parallel()
	for _, shell := range []struct {
		name, setup string
		args        []string
	}{
		{"bash", "PS1='ready> '; source <(braid completion bash)\n", []string{"--norc", "--noprofile", "-i"}},
		{"zsh", "PROMPT='ready> '; unsetopt PROMPT_SP; autoload -Uz compinit; compinit -u -D; source <(braid " +
			"completion zsh)\n", []string{"-f", "-i"}},
	} {
		t.Run(shell.name, func(t *testing.T) {
			for _, c := range completions {
				s := startShell(t, shell.name, shell.args...)
				s.write(shell.setup)
				s.await("ready> ") // echoed in the line that sets it
				s.write("echo begin\n")
				s.await("\nbegin")
				s.await("ready> ")
				s.write(c.typed + "\t")
				s.awaitLine(c.want)
			}
		})
	}
}

// TestRealFish asks fish, which can say what it would offer.
func TestRealFish(t *testing.T) {
	t.Parallel()
	dir := shellFolder(t)
	for _, c := range completions {
		if strings.HasPrefix(c.typed, "help=") {
			continue // not fish's grammar
		}
		cmd := exec.Command("fish", "--no-config", "-c", "braid completion fish | source; complete -C \"$argv[1]\"", c.typed)
		cmd.Dir, cmd.Env = dir, shellEnv(dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		words := strings.Fields(c.want)
		first, _, _ := strings.Cut(string(out), "\n")
		word, _, _ := strings.Cut(first, "\t")
		if word != words[len(words)-1] {
			t.Errorf("%q: %q, want %q", c.typed, out, words[len(words)-1])
		}
	}
}

// TestRealManPages: man and mandoc find nothing to complain of.
func TestRealManPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := exec.Command(binary, "man", "--date", "2026-11-21", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		if out, err := exec.Command("mandoc", "-Tlint", "-Wwarning", page).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v: %s", err, out)
		}
		cmd := exec.Command("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page)
		cmd.Env = append(os.Environ(), "MANROFFSEQ=", "LC_ALL=C.UTF-8", "MANWIDTH=80")
		var complaints bytes.Buffer
		cmd.Stderr = &complaints
		if err := cmd.Run(); err != nil || complaints.Len() > 0 {
			t.Errorf("%s: %v: %s", page, err, &complaints)
		}
	}
}

// shellFolder is a folder with a file and a folder that can be completed.
func shellFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "only-one.asc"), nil, 0o644),
		os.Mkdir(filepath.Join(dir, "folder"), 0o755)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func shellEnv(home string) []string {
	return append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"), "HOME="+home, "TERM=dumb", "LC_ALL=C.UTF-8")
}

// A shell runs on a terminal of its own. What it writes is kept by one goroutine, which ends with the terminal.
type shell struct {
	t        *testing.T
	terminal *os.File
	mu       sync.Mutex
	came     sync.Cond
	output   []byte
	seen     int // up to where await has looked
	ended    bool
}

func startShell(t *testing.T, name string, args ...string) *shell {
	t.Helper()
	terminal, other, err := openTerminal()
	if err != nil {
		t.Fatal(err)
	}
	dir := shellFolder(t)
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, shellEnv(dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = other, other, other
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	other.Close()
	s := &shell{t: t, terminal: terminal}
	s.came.L = &s.mu
	var reading sync.WaitGroup
	reading.Go(s.read)
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		terminal.Close()
		reading.Wait()
	})
	return s
}

// openTerminal makes a pair of terminals, of which the shell gets the second.
func openTerminal() (terminal, other *os.File, err error) {
	terminal, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(terminal.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 200}); err != nil {
		return nil, nil, err
	}
	other, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	return terminal, other, err
}

func (s *shell) read() {
	buf := make([]byte, 4096)
	for {
		n, err := s.terminal.Read(buf)
		s.mu.Lock()
		s.output = append(s.output, buf[:n]...)
		s.ended = err != nil
		s.came.Broadcast()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *shell) write(text string) {
	if _, err := s.terminal.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// until waits until ok likes what came since the last wait.
func (s *shell) until(what string, ok func(fresh []byte) (used int)) {
	s.t.Helper()
	late := false
	timer := time.AfterFunc(2*time.Minute, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		late = true
		s.came.Broadcast()
	})
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if n := ok(s.output[s.seen:]); n > 0 {
			s.seen += n
			return
		}
		if late || s.ended {
			s.t.Fatalf("no %q in %q", what, s.output)
		}
		s.came.Wait()
	}
}

func (s *shell) await(text string) {
	s.t.Helper()
	s.until(text, func(fresh []byte) int {
		if i := bytes.Index(fresh, []byte(text)); i >= 0 {
			return i + len(text)
		}
		return 0
	})
}

// awaitLine waits until the line being typed is text. Shells draw a line again, with control characters in between.
func (s *shell) awaitLine(text string) {
	s.t.Helper()
	s.until(text, func(fresh []byte) int {
		if strings.Contains(drawn(fresh), text) {
			return len(fresh)
		}
		return 0
	})
}

// drawn is what a terminal shows of what was written to one line.
func drawn(written []byte) string {
	var line []byte
	at := 0
	for _, c := range written {
		switch {
		case c == '\r':
			at = 0
		case c == '\b':
			at = max(0, at-1)
		case c >= ' ':
			line = append(line[:at:at], append([]byte{c}, line[min(at+1, len(line)):]...)...)
			at++
		}
	}
	return string(line)
}
