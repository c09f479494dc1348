//go:build realservers

package rpc

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"braid/daemon/queue"
)

var record = flag.Bool("record", false, "write the frames of aria2 to "+recorded)

// fileServer has a small file, one that takes long, and none for other paths.
func fileServer(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/fast"):
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(make([]byte, 65536)))
		case strings.HasPrefix(r.URL.Path, "/slow"):
			http.ServeContent(w, r, "", time.Time{}, &slow{*bytes.NewReader(make([]byte, 8<<20)), r.Context()})
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A slow reader gives 16 KiB a time, and waits in between.
type slow struct {
	bytes.Reader
	ctx context.Context
}

func (s *slow) Read(p []byte) (int, error) {
	wait(s.ctx, 50*time.Millisecond)
	return s.Reader.Read(p[:min(len(p), 16<<10)])
}

// aria2 starts aria2c and returns the URL of its interface.
func aria2(t *testing.T, more ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	l.Close()
	args := []string{"--no-conf", "--quiet", "--enable-rpc", "--rpc-listen-port=" + port, "--rpc-secret=" + secret, "--dir=" + t.TempDir(),
		"--enable-dht=false"}
	cmd := exec.Command("aria2c", append(args, more...)...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
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

// TestRealFrames: the record is what aria2c answers today.
func TestRealFrames(t *testing.T) {
	s := &session{t: t, rpc: aria2(t), files: fileServer(t)}
	s.reach = func(gid string, status queue.Status) {
		await(t, gid+" is "+status.String(), func() bool {
			told := s.told
			one, _ := s.named("", "aria2.tellStatus", with(gid, []string{"status", "connections", "completedLength", "totalLength"})...).(map[string]any)
			s.told = told
			begun := one["connections"] != "0" && one["completedLength"] != "0" && one["totalLength"] != "0"
			return one["status"] == status.String() && (status != queue.Active || begun)
		})
	}
	play(s)
	if *record {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(recorded, []byte(writeFrames(s.told)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := readFrames(t, recorded)
	for i, f := range s.told {
		if i >= len(want) || f != want[i] {
			t.Errorf("%s:\n%s\nrecorded:\n%s", f.name, f.text, want[min(i, len(want)-1)].text)
		}
	}
}

// TestRealClients: clients of aria2 drive braid as they are.
func TestRealClients(t *testing.T) {
	for _, driver := range []string{"aria2.cjs", "maria2.mjs"} {
		t.Run(driver, func(t *testing.T) {
			e := newEngine()
			e.auto = true
			_, url := start(t, e, Options{Token: secret})
			port := strings.TrimSuffix(strings.TrimPrefix(url, "http://127.0.0.1:"), "/jsonrpc")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, "node", filepath.Join("testdata", "clients", driver), port, secret, "http://127.0.0.1:1")
			modules, err := filepath.Abs("testdata/clients")
			if err != nil {
				t.Fatal(err)
			}
			cmd.Env = append(os.Environ(), "NODE_PATH=/usr/share/nodejs:"+modules)
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != "well\n" {
				t.Errorf("%v (scripts/test installs node and its module ws):\n%s", err, out)
			}
		})
	}
}
