package cli

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
)

// A watching is a watcher in a process of its own, with a folder for everything that it has.
type watching struct {
	t     *testing.T
	dir   string
	cmd   *exec.Cmd
	words chan string // what it tells the service manager
}

// newWatching makes the folder. What is watched is on s, and a feed on disk tells of it.
func newWatching(t *testing.T, s *mirrortest.Server, lines ...string) *watching {
	t.Helper()
	w := &watching{t: t, dir: t.TempDir()}
	socket, err := net.ListenPacket("unixgram", w.in("notify"))
	if err != nil {
		t.Fatal(err)
	}
	w.words = make(chan string, 10_000)
	read := make(chan struct{})
	go func() {
		defer close(read)
		for buf := make([]byte, 1000); ; {
			n, _, err := socket.ReadFrom(buf)
			if err != nil {
				return
			}
			w.words <- string(buf[:n])
		}
	}()
	t.Cleanup(func() { socket.Close(); <-read })
	w.write("feed.soif", soifOf(s.URL))
	w.configure(s, lines...)
	return w
}

// soifOf is a feed that tells of files, and never expires.
func soifOf(urls ...string) string {
	var b strings.Builder
	for _, u := range urls {
		fmt.Fprintf(&b, "@FILE { %s\nLast-Modification-Time{10}:\t1700000000\nUpdate-Time{10}:\t1700000000\n}\n", u)
	}
	return b.String()
}

func (w *watching) in(name string) string { return filepath.Join(w.dir, name) }

func (w *watching) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(w.in(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *watching) read(name string) string {
	data, _ := os.ReadFile(w.in(name))
	return string(data)
}

func (w *watching) configure(s *mirrortest.Server, lines ...string) {
	w.t.Helper()
	w.write("watch.toml", "state = 'state'\nlog-level = 'debug'\n[feed.f]\nfile = 'feed.soif'\n[watch.w]\nurl = '"+
		s.URL+"'\ndir = 'files'\n"+strings.Join(lines, "\n")+"\n")
}

// command makes a process of the command.
func (w *watching) command(words ...string) *exec.Cmd {
	w.t.Helper()
	log, err := os.OpenFile(w.in("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { log.Close() })
	return start(w.t, w.dir, log, append([]string{"watch"}, words...)...)
}

// begin starts the watcher and waits until it says that it is ready.
func (w *watching) begin(env ...string) {
	w.t.Helper()
	w.cmd = w.command("watch.toml")
	w.cmd.Env = append(append(w.cmd.Env, "NOTIFY_SOCKET="+w.in("notify")), env...)
	if err := w.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { w.cmd.Process.Kill(); w.cmd.Wait() })
	w.hears("READY=1\nSTATUS=watching 1 feed by 1 watch")
}

// hears waits for words to the service manager, after those that do not matter here.
func (w *watching) hears(want string) {
	w.t.Helper()
	limit := time.After(2 * time.Minute)
	for {
		select {
		case got := <-w.words:
			if strings.HasPrefix(got, want) {
				return
			}
		case <-limit:
			w.t.Fatalf("waiting for %q\n%s", want, w.read("log"))
		}
	}
}

func (w *watching) signal(s os.Signal) {
	w.t.Helper()
	if err := w.cmd.Process.Signal(s); err != nil {
		w.t.Fatal(err)
	}
}

// ends waits for the end of the watcher, which must have this exit code.
func (w *watching) ends(code int) {
	w.t.Helper()
	w.cmd.Wait()
	if got := w.cmd.ProcessState.ExitCode(); got != code {
		w.t.Errorf("exit code %d, want %d\n%s", got, code, w.read("log"))
	}
}

// once runs one round and wants it to go well.
func (w *watching) once() {
	w.t.Helper()
	if err := w.command("--once", "watch.toml").Run(); err != nil {
		w.t.Fatalf("%v\n%s", err, w.read("log"))
	}
}

// asks runs a subcommand and returns what it printed.
func (w *watching) asks(code int, words ...string) string {
	w.t.Helper()
	cmd := w.command(words...)
	var out bytes.Buffer
	cmd.Stdout = &out
	cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != code {
		w.t.Errorf("%q: exit code %d, want %d\n%s%s", words, got, code, out.String(), w.read("log"))
	}
	return out.String()
}

// logs waits for a line.
func (w *watching) logs(pattern string) {
	w.t.Helper()
	waitFor(w.t, pattern, func() bool { return regexp.MustCompile("(?m)" + pattern).MatchString(w.read("log")) })
}

// bodies counts the requests for the content of the file.
func bodies(s *mirrortest.Server) (n int) {
	for _, r := range s.Requests() {
		if r.Method == http.MethodGet {
			n++
		}
	}
	return n
}
