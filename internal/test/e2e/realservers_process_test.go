//go:build realservers

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"braid/internal/test/ports"
)

// The tests of this build tag start nginx, Apache, vsftpd and ProFTPD, each with a configuration of its own, as ordinary
// processes on loopback. A server that is missing is a failure: scripts/test installs them.

// A program is a kind of server.
type program struct {
	command string
	scheme  string // of URLs of sites; that with TLS ends in an s
	args    func(conf string) []string
	config  func(s site, dir, addr string) string
}

var (
	nginx = program{
		command: "nginx", scheme: "http",
		args:   func(conf string) []string { return []string{"-p", filepath.Dir(conf), "-c", conf} },
		config: nginxConfig,
	}
	apache = program{
		command: "apache2", scheme: "http",
		args:   func(conf string) []string { return []string{"-f", conf, "-D", "FOREGROUND"} },
		config: apacheConfig,
	}
)

// start serves s until the test ends and returns the server's host:port.
func (p program) start(t testing.TB, s site) string {
	t.Helper()
	dir := publicDir(t)
	s.root = absolute(t, s.root)
	openPath(t, s.root)
	addr := ports.Free(t)
	conf := filepath.Join(dir, p.command+".conf")
	if err := os.WriteFile(conf, []byte(p.config(s, dir, addr)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := startProcess(t, addr, p.path(t), p.args(conf)...); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "error.log"))
		t.Fatalf("%s: %v\n%s", p.command, err, log)
	}
	return addr
}

// path finds the command, which Debian keeps out of an ordinary user's PATH.
func (p program) path(t testing.TB) string {
	t.Helper()
	for _, name := range []string{p.command, "/usr/sbin/" + p.command} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatalf("%s is not installed; scripts/test installs what these tests need", p.command)
	return ""
}

// publicDir is a folder of the test that servers under another user can reach.
func publicDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	openPath(t, dir)
	return dir
}

// openPath lets everybody into dir and into what is above it, up to the folder for temporary files: Apache
// does not serve as root.
func openPath(t testing.TB, dir string) {
	t.Helper()
	top := filepath.Clean(os.TempDir())
	for ; dir != top && strings.HasPrefix(dir, top); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func absolute(t testing.TB, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// startProcess runs a server until the test ends, and returns once it accepts connections at addr.
func startProcess(t testing.TB, addr, path string, args ...string) error {
	t.Helper()
	var output lockedBuffer
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	go func() {
		cmd.Wait()
		close(exited)
	}()
	stop := func() {
		cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-exited:
		case <-time.After(time.Minute):
			cmd.Process.Kill()
			<-exited
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := awaitAccept(ctx, addr, exited); err != nil {
		stop()
		return fmt.Errorf("%w\n%s", err, output.String())
	}
	t.Cleanup(stop)
	return nil
}

// awaitAccept polls addr until something accepts connections there.
func awaitAccept(ctx context.Context, addr string, exited <-chan struct{}) error {
	for {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-exited:
			return errors.New("the server ended at once")
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// A lockedBuffer collects the output of a process that still runs.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
