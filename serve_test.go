package main

import (
	"bufio"
	"io"
	"os/exec"
	"regexp"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// listening is how "braid serve" says where it is.
var listening = regexp.MustCompile(`http://(127\.0\.0\.1:\d+)`)

// serveFolder is "serve NAME ARG...": it runs braid serve on a free port until the script ends, and sets
// NAME to its URL without a path and NAME_HOST to its host:port.
func serveFolder(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: serve NAME ARG...")
	}
	cmd := exec.Command(binary, append([]string{"serve", "--listen", "127.0.0.1:0"}, args[1:]...)...)
	cmd.Dir, cmd.Env = ts.Getenv("WORK"), scriptEnv(ts)
	output, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	ts.Check(cmd.Start())
	exited := make(chan struct{})
	go func() {
		cmd.Wait()
		w.Close()
		close(exited)
	}()
	addr := make(chan string, 1)
	go scanAddr(output, addr)
	ts.Defer(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-exited:
		case <-time.After(10 * time.Second):
			cmd.Process.Kill()
			<-exited
			ts.Logf("serve %s did not end on SIGTERM", args[0])
		}
	})
	select {
	case a, ok := <-addr:
		if !ok {
			ts.Fatalf("serve %s ended without saying where it listens", args[0])
		}
		ts.Setenv(args[0], "http://"+a)
		ts.Setenv(args[0]+"_HOST", a)
	case <-time.After(30 * time.Second):
		ts.Fatalf("serve %s does not say where it listens", args[0])
	}
}

// scanAddr sends the first address that it reads, and reads on so that the writer is never stopped. At the
// end it closes addr.
func scanAddr(output io.Reader, addr chan<- string) {
	defer close(addr)
	found := false
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if m := listening.FindSubmatch(lines.Bytes()); m != nil && !found {
			found = true
			addr <- string(m[1])
		}
	}
}
