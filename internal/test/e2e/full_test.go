package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"braid/internal/test/mirrortest"
)

const fullSize = 5 << 20

// A full run is one of the command where no more than 2 MiB of a file fit.
type fullRun struct {
	t    *testing.T
	dir  string
	attr *syscall.SysProcAttr
}

// sh runs a shell with the command as $0.
func (f *fullRun) sh(script string, args ...string) (output string, code int) {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), "/bin/sh", append([]string{"-c", script, binary}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+f.dir, "XDG_CACHE_HOME="+f.dir, "XDG_STATE_HOME="+f.dir)
	cmd.SysProcAttr = f.attr
	out, err := cmd.CombinedOutput()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		f.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// kept is how many bytes a message says that it kept.
var kept = regexp.MustCompile(`\((\d+(?:\.\d+)?) (KiB|MiB) kept in ([^;)]*)[;)]`)

// told wants exit code 3, a line that names the part file and the reason, and something kept.
func (f *fullRun) told(output string, code int, reason string) {
	f.t.Helper()
	m := kept.FindStringSubmatch(output)
	if code != 3 || m == nil || filepath.Base(m[3]) != "file.bin.part" ||
		!bytes.Contains([]byte(output), []byte("file.bin.part: "+reason)) {
		f.t.Fatalf("exit code %d\n%s", code, output)
	}
	if n, err := strconv.ParseFloat(m[1], 64); err != nil || n < 1 {
		f.t.Errorf("%s kept", m[1])
	}
}

// Rule 7, on a file system that is real: a file of which nobody knew the length grows until it may grow no more. What came is
// kept, nothing has the final name, and when there is room the next run goes on and ends right.
func TestFull_Rule7(t *testing.T) {
	server := mirrortest.New(t, mirrortest.Generate(fullSize, 7), mirrortest.Digest(), mirrortest.Chunked())
	f := &fullRun{t: t, dir: t.TempDir()}
	out, code := f.sh(`ulimit -f 4096; exec "$0" "$@"`, "get", "-d", f.dir, server.URL) // blocks of 512 bytes
	f.told(out, code, "file too large")
	if _, err := os.Lstat(filepath.Join(f.dir, "file.bin")); err == nil {
		t.Error("there is a file under the final name")
	}
	before := server.Sent()
	if out, code = f.sh(`exec "$0" "$@"`, "get", "-d", f.dir, server.URL); code != 0 {
		t.Fatalf("with room: exit code %d\n%s", code, out)
	}
	if got, err := os.ReadFile(filepath.Join(f.dir, "file.bin")); err != nil || !bytes.Equal(got, server.Content.Bytes()) {
		t.Errorf("the file has %d bytes, %v", len(got), err)
	}
	if sent := server.Sent() - before; sent > fullSize-1<<20 {
		t.Errorf("with room %d bytes were fetched: nothing of what was kept was used", sent)
	}
}
