//go:build realservers

package rpc

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/daemon/queue"
	"braid/internal/test/gotool"
	"braid/internal/test/ports"
)

var record = flag.Bool("record", false, "write the frames of aria2 to "+recorded)

// fileServer serves a small file, a slow one, and 404 for other paths.
func fileServer(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/fast"):
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(make([]byte, 65536)))
		case strings.HasPrefix(r.URL.Path, "/slow"):
			http.ServeContent(w, r, "", time.Time{}, &slow{*bytes.NewReader(make([]byte, 32<<20)), r.Context()})
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A slow is a reader that returns 16 KiB at a time and waits in between.
type slow struct {
	bytes.Reader
	ctx context.Context
}

func (s *slow) Read(p []byte) (int, error) {
	wait(s.ctx, 50*time.Millisecond)
	return s.Reader.Read(p[:min(len(p), 16<<10)])
}

// aria2 starts aria2c, or another program in its place, and returns the URL of its interface.
func aria2(t *testing.T, program string, more ...string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(ports.Free(t))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--no-conf", "--quiet", "--enable-rpc", "--rpc-listen-port=" + port, "--rpc-secret=" + secret,
		"--dir=" + t.TempDir(),
		"--enable-dht=false"}
	cmd, home := exec.Command(program, append(args, more...)...), t.TempDir()
	cmd.Args[0] = "aria2c"
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home,
		"BRAID_BITTORRENT=off", "BRAID_NO_LOOKUP=true")
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: scripts/test installs aria2", err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	url := "http://127.0.0.1:" + port + "/jsonrpc"
	await(t, "aria2c answers", func() bool {
		resp, err := http.Post(url, "", strings.NewReader(object("system.listMethods", 1)))
		if err == nil {
			resp.Body.Close()
		}
		return err == nil
	})
	return url
}

// braid starts the daemon with the script's secret as its token, and returns the URL of its interface.
func braid(t *testing.T, binary string) string {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "daemon", "--state", dir, "-d", t.TempDir(), "--rpc-listen-port", "0")
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home,
		"BRAID_BITTORRENT=off", "BRAID_NO_LOOKUP=true")
	log, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines, said, ready := bufio.NewScanner(log), "", []string(nil)
	for ready == nil && lines.Scan() {
		said += lines.Text() + "\n"
		ready = regexp.MustCompile(` rpc=(\S+)`).FindStringSubmatch(said)
	}
	drained := make(chan bool)
	go func() {
		defer close(drained)
		io.Copy(io.Discard, log)
	}()
	t.Cleanup(func() { cmd.Process.Kill(); <-drained; cmd.Wait() })
	if ready == nil {
		t.Fatalf("the daemon does not say where it listens:\n%s", said)
	}
	return ready[1]
}

// playReal plays the script to a program that downloads.
func playReal(t *testing.T, rpc string) []frame {
	s := &session{t: t, rpc: rpc, files: fileServer(t)}
	s.reach = func(gid string, status queue.Status) {
		await(t, gid+" is "+status.String(), func() bool {
			told := s.told
			one, _ := s.named("", "aria2.tellStatus", with(gid, []string{"status", "connections", "completedLength",
				"totalLength"})...).(map[string]any)
			s.told = told
			begun := one["connections"] != "0" && one["completedLength"] != "0" && one["totalLength"] != "0"
			return one["status"] == status.String() && (status != queue.Active || begun)
		})
	}
	s.settle = func() {
		await(t, "all downloads that may run have ended", func() bool {
			told := s.told
			active, _ := s.named("", "aria2.tellActive", with([]string{"gid"})...).([]any)
			waiting, _ := s.named("", "aria2.tellWaiting", with(0, 1000, []string{"status"})...).([]any)
			s.told = told
			return len(active) == 0 && !slices.ContainsFunc(waiting,
				func(one any) bool { return one.(map[string]any)["status"] != "paused" })
		})
	}
	play(s)
	return s.told
}

// TestRealFrames checks that aria2c answers as recorded.
func TestRealFrames(t *testing.T) {
	told := playReal(t, aria2(t, "aria2c"))
	if *record {
		if err := os.WriteFile(recorded, []byte(writeFrames(told)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := readFrames(t, recorded)
	for i, f := range told {
		if i >= len(want) || f != want[i] {
			t.Errorf("%s:\n%s\nrecorded:\n%s", f.name, f.text, want[min(i, len(want)-1)].text)
		}
	}
}

// TestRealDaemon checks that the daemon answers as recorded, except for the differences, and that real clients of aria2
// work with it.
func TestRealDaemon(t *testing.T) {
	binary, err := gotool.Braid(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("frames", func(t *testing.T) { compareFrames(t, playReal(t, braid(t, binary)), readFrames(t, recorded)) })
	modules, err := filepath.Abs("testdata/clients")
	if err != nil {
		t.Fatal(err)
	}
	for _, driver := range []string{"aria2.cjs", "maria2.mjs", "aria2.cjs as aria2c"} {
		t.Run(driver, func(t *testing.T) {
			start := braid
			driver, under, _ := strings.Cut(driver, " ")
			if under != "" {
				start = func(t *testing.T, binary string) string { return aria2(t, binary) }
			}
			address, err := url.Parse(start(t, binary))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, "node", filepath.Join(modules, driver), address.Port(), secret, fileServer(t))
			cmd.Env = append(os.Environ(), "NODE_PATH=/usr/share/nodejs:"+modules)
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != "well\n" {
				t.Errorf("%v (scripts/test installs node and its module ws):\n%s", err, out)
			}
		})
	}
}
