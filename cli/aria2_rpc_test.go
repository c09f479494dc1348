package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"braid/internal/job"
)

// TestAria2Empty: a start on the port of an earlier one begins with what its caller lists, and with nothing else. What
// the list of a session has, be it the caller's or one that was written, is what it says.
func TestAria2Empty(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	entry := "http://127.0.0.1:1/%s\n gid=00000000000000a%s\n pause=true\n sha256=" + strings.Repeat("0", 64) +
		"\n require=digest\n mirror=http://127.0.0.1:1/m\n"
	for n, want := range []string{"1", "2", "2"} {
		list := in("list")
		if n < 2 {
			if err := os.WriteFile(list, fmt.Appendf(nil, entry, want, want), 0o600); err != nil {
				t.Fatal(err)
			}
		} else {
			list = in("session")
		}
		var log lockedBuffer
		ctx, end := context.WithCancel(t.Context())
		code := make(chan int, 1)
		args := []string{"aria2c", "--no-conf", "--enable-rpc", "--rpc-listen-port=0", "--dir=" + in("d"),
			"--save-session=" + in("session"), "-i", list}
		go func() { code <- run(ctx, args, streams{in: strings.NewReader(""), out: io.Discard, err: &log}) }()
		waitFor(t, "the daemon", func() bool { return readyLine.MatchString(log.String()) })
		d := &daemonRun{t: t, url: readyLine.FindStringSubmatch(log.String())[1]}
		for _, method := range []string{"aria2.tellActive", "aria2.tellWaiting", "aria2.tellStopped"} {
			params := []any{0, 10, []string{"gid"}}
			if method == "aria2.tellActive" {
				params = params[2:]
			}
			wanted := "[]"
			if method == "aria2.tellWaiting" {
				wanted = "[map[gid:00000000000000a" + want + "]]"
			}
			if got, failure := d.call(method, params...); fmt.Sprint(got) != wanted {
				t.Errorf("start %d: %s: %v, want %s, %s", n, method, got, wanted, failure)
			}
		}
		end()
		<-code
		session, err := os.ReadFile(in("session"))
		for _, line := range []string{"sha256=" + strings.Repeat("0", 64), "require=digest",
			"mirror=http://127.0.0.1:1/m", "pause=true"} {
			if !strings.Contains(string(session), "\n "+line+"\n") {
				t.Errorf("start %d: the session lacks %s: %s, %v", n, line, session, err)
			}
		}
	}
}

// TestAria2EndsEarly: a signal that comes before the list is in the queue does not empty the session.
func TestAria2EndsEarly(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	folder := t.TempDir()
	session := filepath.Join(folder, "session")
	write(t, session, "http://127.0.0.1:1/x\n pause=true\n")
	ctx, end := context.WithCancel(t.Context())
	end()
	for range 10 {
		run(ctx, []string{"aria2c", "--no-conf", "--enable-rpc", "--rpc-listen-port=0", "--dir=" + folder,
			"--save-session=" + session, "-i", session}, streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard})
		if data, err := os.ReadFile(session); err != nil || !strings.Contains(string(data), "http://127.0.0.1:1/x") {
			t.Fatalf("the session is %q, %v", data, err)
		}
	}
}

// TestAria2OwnFiles_Rule69: a client replaces neither the configuration nor the list, which the next run reads with the
// rights of the user.
func TestAria2OwnFiles_Rule69(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	folder := t.TempDir()
	a := newAria2(streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard})
	if err := a.call.Parse([]string{"--enable-rpc", "--dir=" + folder, "--conf-path=" + filepath.Join(folder, "aria2.conf"),
		"-i", filepath.Join(folder, "list"), "-T", filepath.Join(folder, "a.torrent")}); err != nil {
		t.Fatal(err)
	}
	d, err := a.daemon()
	if err != nil {
		t.Fatal(err)
	}
	for name, own := range map[string]bool{"aria2.conf": true, "list": true, "a.torrent": true, "b": false} {
		if got := d.service.IsReserved(filepath.Join(folder, name)); got != own {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestAria2LowestSpeed: --lowest-speed-limit is that of the daemon; without it there is none, as with aria2.
func TestAria2LowestSpeed(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for words, want := range map[string]int64{"": 0, "--lowest-speed-limit=0": 0, "--lowest-speed-limit=5K": 5 << 10} {
		a := newAria2(streams{out: io.Discard, err: io.Discard})
		if err := a.call.Parse(append(strings.Fields(words), "--enable-rpc", "--dir="+t.TempDir())); err != nil {
			t.Fatal(err)
		}
		a.get.Job.Dir = a.call.Value("dir")
		a.get.Job.HTTP.Sites = job.NewSites(&job.Settings{})
		d, err := a.daemon()
		if err != nil {
			t.Fatal(err)
		}
		d.configure()
		if d.service.LowestSpeed != want {
			t.Errorf("%s: %d bytes a second, want %d", words, d.service.LowestSpeed, want)
		}
	}
}

// TestAria2RPC_Rule68: nothing lets others in, or looks as if it did what it does not.
func TestAria2RPC_Rule68(t *testing.T) {
	list := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(list, []byte("http://127.0.0.1:1/a\n  all-proxy=http://127.0.0.1:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	aria2Refuses(t, map[string]string{
		"--enable-rpc --rpc-listen-all":                "usage --rpc-listen-all: without a secret, all on the network",
		"--enable-rpc --rpc-listen-all --rpc-insecure": "usage --rpc-listen-all: without a secret, all on the network",
		"--enable-rpc --rpc-listen-all --rpc-secret=x": "usage --rpc-listen-all: the secret would cross the network",
		"--enable-rpc --rpc-secure":                    "usage --rpc-secure: needs a certificate",
		"--enable-rpc --rpc-secure --rpc-certificate=x": "usage --rpc-certificate: the private key of this certificate " +
			"is missing",
		"--enable-rpc --rpc-user=x --rpc-passwd=y":   "usage --rpc-user: the server does not request a name and password",
		"--enable-rpc --rpc-listen-port=70000":       "usage --rpc-listen-port: write a port",
		"--enable-rpc --dry-run http://127.0.0.1:1/": "usage --dry-run: contradicts --enable-rpc",
		"--enable-rpc -i " + list: "usage " + list + ": all-proxy: all downloads of a daemon have " +
			"the same proxy",
		"--enable-rpc --split=x":              "usage --split: write a number",
		"--enable-rpc --lowest-speed-limit=x": "usage --lowest-speed-limit: write ",
	})
}
