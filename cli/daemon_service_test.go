//go:build unix

package cli

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"braid/internal/job"
)

// TestDaemonService: the service manager is told how the daemon is, and SIGHUP reads the settings anew, also wrong ones.
func TestDaemonService(t *testing.T) {
	d := newDaemonRun(t)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	name := filepath.Join(t.TempDir(), "notify")
	t.Setenv("NOTIFY_SOCKET", name)
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	hears := func(want string) {
		t.Helper()
		manager.SetReadDeadline(time.Now().Add(2 * time.Minute))
		data := make([]byte, 1<<10)
		if n, err := manager.Read(data); err != nil || !strings.HasPrefix(string(data[:n]), want) {
			t.Fatalf("the manager hears %q, %v, want %s", data[:n], err, want)
		}
	}
	d.start()
	hears("READY=1")
	for _, settings := range []string{"limit-rate = '1M'", "no-such-key = 1"} {
		file := job.SettingsFile("config.toml")
		err := os.MkdirAll(filepath.Dir(file), 0o700)
		if err == nil {
			err = os.WriteFile(file, []byte(settings), 0o600)
		}
		if err == nil {
			err = syscall.Kill(os.Getpid(), syscall.SIGHUP)
		}
		if err != nil {
			t.Fatal(err)
		}
		hears("RELOADING=1")
		hears("READY=1")
	}
	if !strings.Contains(d.log.String(), "reloaded") || !strings.Contains(d.log.String(), "are unchanged") {
		t.Error(d.log)
	}
	if code := d.end(); code != exitDone {
		t.Errorf("exit code %d", code)
	}
	hears("STOPPING=1")
}
