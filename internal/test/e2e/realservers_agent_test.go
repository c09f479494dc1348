//go:build realservers

package e2e

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An agent is "braid watch" as a service: a process that a manager starts, which listens to what it says.
type agent struct {
	t     *testing.T
	dir   string
	cmd   *exec.Cmd
	words chan string // what it tells its manager
	env   []string    // more of its environment
}

func newAgent(t *testing.T, dir string) *agent {
	t.Helper()
	a := &agent{t: t, dir: dir, words: make(chan string, 10_000)}
	socket, err := net.ListenPacket("unixgram", a.in("notify"))
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for buf := make([]byte, 1000); ; {
			n, _, err := socket.ReadFrom(buf)
			if err != nil {
				return
			}
			a.words <- string(buf[:n])
		}
	}()
	t.Cleanup(func() { socket.Close(); <-read })
	return a
}

func (a *agent) in(name string) string { return filepath.Join(a.dir, name) }

func (a *agent) write(name, text string) {
	a.t.Helper()
	if err := os.WriteFile(a.in(name), []byte(text), 0o644); err != nil {
		a.t.Fatal(err)
	}
}

// read returns a file of the agent's folder; nothing, if it is not there.
func (a *agent) read(name string) string { return a.readFile(a.in(name)) }

func (a *agent) readFile(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}

// command makes a process of "braid watch". What it says is added to the log.
func (a *agent) command(words ...string) *exec.Cmd {
	a.t.Helper()
	log, err := os.OpenFile(a.in("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { log.Close() })
	cmd := exec.Command(binary, append([]string{"watch"}, words...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = a.dir, log, log
	cmd.Env = append(append(os.Environ(), "HOME="+a.dir, "NOTIFY_SOCKET="+a.in("notify")), a.env...)
	return cmd
}

// begin starts the service and waits until it says that it is ready.
func (a *agent) begin() {
	a.t.Helper()
	a.cmd = a.command("watch.toml")
	if err := a.cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	cmd := a.cmd
	a.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	a.hears("READY=1\n")
}

// hears waits for words to the manager, and returns those that begin so. Words before them do not matter.
func (a *agent) hears(want string) string {
	a.t.Helper()
	limit := time.After(2 * time.Minute)
	for {
		select {
		case got := <-a.words:
			if strings.HasPrefix(got, want) {
				return got
			}
		case <-limit:
			a.t.Fatalf("waiting for %q\n%s", want, a.read("log"))
		}
	}
}

func (a *agent) signal(s syscall.Signal) {
	a.t.Helper()
	if err := a.cmd.Process.Signal(s); err != nil {
		a.t.Fatal(err)
	}
}

// kill ends the process without a warning.
func (a *agent) kill() {
	a.t.Helper()
	a.signal(syscall.SIGKILL)
	a.cmd.Wait()
}

// ends waits for the end of the service, which must have this exit code.
func (a *agent) ends(code int) {
	a.t.Helper()
	a.cmd.Wait()
	if got := a.cmd.ProcessState.ExitCode(); got != code {
		a.t.Errorf("exit code %d, want %d\n%s", got, code, a.read("log"))
	}
}

// logs waits for a line.
func (a *agent) logs(pattern string) []string {
	a.t.Helper()
	line := regexp.MustCompile("(?m)" + pattern)
	waitUntil(a.t, pattern, func() bool { return line.MatchString(a.read("log")) })
	return line.FindStringSubmatch(a.read("log"))
}

// waitUntil looks again and again until something is so.
func waitUntil(t testing.TB, what string, is func() bool) {
	t.Helper()
	for limit := time.Now().Add(2 * time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("waiting for %s", what)
		}
	}
}
