package watch

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// environment returns a lookup function for pairs.
func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestWords(t *testing.T) {
	abstract := "@braid-test-" + strconv.Itoa(os.Getpid())
	for name, bind := range map[string]string{filepath.Join(t.TempDir(), "s"): "", abstract: "\x00" + abstract[1:]} {
		if bind == "" {
			bind = name
		}
		socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: bind, Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		defer socket.Close()
		n := NotifierOf(environment("NOTIFY_SOCKET", name))
		for _, tt := range []struct {
			tell func() error
			want string
		}{
			{func() error { return n.Ready("a\nSTOPPING=1") }, `^READY=1\nSTATUS=a STOPPING=1$`},
			{n.Reloading, `^RELOADING=1\nMONOTONIC_USEC=[1-9]\d+$`},
			{n.Alive, `^WATCHDOG=1$`},
			{n.Stopping, `^STOPPING=1$`},
		} {
			if err := tt.tell(); err != nil {
				t.Fatal(err)
			}
			buf := make([]byte, 200)
			socket.SetReadDeadline(time.Now().Add(time.Minute))
			k, err := socket.Read(buf)
			if err != nil || !regexp.MustCompile(tt.want).Match(buf[:k]) {
				t.Errorf("%q, %v, want %s", buf[:k], err, tt.want)
			}
		}
	}
}

// Without a service manager nothing is sent and there is no error; with one that is gone there is an error.
func TestNobody(t *testing.T) {
	var n Notifier
	if err := n.Ready("x"); err != nil {
		t.Error(err)
	}
	n = NotifierOf(environment("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "none")))
	if err := n.Ready("x"); err == nil {
		t.Error("a socket that is not there takes words")
	}
}

func TestWatchdog(t *testing.T) {
	own := strconv.Itoa(os.Getpid())
	for _, tt := range []struct {
		usec, pid, socket string
		want              time.Duration
	}{
		{"30000000", "", "/s", 30 * time.Second}, {"30000000", own, "/s", 30 * time.Second}, {"30000000", "1", "/s", 0},
		{"30000000", "", "", 0}, {"", "", "/s", 0}, {"-1", "", "/s", 0}, {"x", "", "/s", 0}, {"9223372036854775807", "", "/s", 0},
	} {
		n := NotifierOf(environment("WATCHDOG_USEC", tt.usec, "WATCHDOG_PID", tt.pid, "NOTIFY_SOCKET", tt.socket))
		if got := n.Watchdog(); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// A service manager that does not read its socket does not block the service.
func TestDeaf(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	n := NotifierOf(environment("NOTIFY_SOCKET", name))
	for range 10_000 {
		if err = n.Alive(); err != nil {
			break
		}
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
}
