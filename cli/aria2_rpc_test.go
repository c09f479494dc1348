package cli

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"braid/daemon/queue"
	"braid/daemon/rpc"
)

// TestAria2Enqueue: what an earlier run left in the queue, or ended under the same GID, is not added again.
func TestAria2Enqueue(t *testing.T) {
	q := queue.New(1)
	entries := func() []queue.Entry {
		return []queue.Entry{
			{URIs: []string{"http://h/a"}, Options: map[string]string{"dir": "/d"}},
			{URIs: []string{"http://h/a"}, Options: map[string]string{"dir": "/e"}, Status: queue.Paused},
			{GID: 7, URIs: []string{"http://h/b"}},
			{Document: []byte("d8:announce0:e")},
		}
	}
	for range 2 {
		if err := enqueue(q, entries()); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Remove(time.Now(), 7); err != nil {
		t.Fatal(err)
	}
	if err := enqueue(q, entries()); err != nil {
		t.Fatal(err)
	}
	if active, waiting, stopped := q.Count(); active != 0 || waiting != 3 || stopped != 1 {
		t.Errorf("%d are active, %d wait, %d are stopped", active, waiting, stopped)
	}
}

// TestSaveSession_Rule69: a client's session replaces another one, and nothing of which it cannot be told that it is one.
func TestSaveSession_Rule69(t *testing.T) {
	d := &daemonCommand{Root: t.TempDir()}
	in := func(name string) string { return filepath.Join(d.Root, name) }
	if err := errors.Join(os.WriteFile(in("file"), []byte("precious"), 0o600), syscall.Mkfifo(in("pipe"), 0o600), os.Symlink("file", in("link"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "pipe", "link"} {
		before, _ := os.Lstat(in(name))
		err := d.saveSession(in(name), []byte(rpc.SessionMark))
		if after, _ := os.Lstat(in(name)); err == nil || !os.SameFile(before, after) {
			t.Errorf("%s was replaced: %v", name, err)
		}
	}
	for _, text := range []string{"", "more"} {
		if err := d.saveSession(in("new"), []byte(rpc.SessionMark+text)); err != nil {
			t.Error(err)
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
		"--enable-rpc --rpc-listen-all":                 "usage --rpc-listen-all: without a secret, all on the network",
		"--enable-rpc --rpc-listen-all --rpc-insecure":  "usage --rpc-listen-all: without a secret, all on the network",
		"--enable-rpc --rpc-listen-all --rpc-secret=x":  "usage --rpc-listen-all: the secret would go over the network",
		"--enable-rpc --rpc-secure":                     "usage --rpc-secure: needs a certificate",
		"--enable-rpc --rpc-secure --rpc-certificate=x": "usage --rpc-certificate: needs its private key",
		"--enable-rpc --rpc-user=x --rpc-passwd=y":      "usage --rpc-user: nothing asks for a name and password",
		"--enable-rpc --rpc-listen-port=70000":          "usage --rpc-listen-port: write a port",
		"--enable-rpc --dry-run http://127.0.0.1:1/":    "usage --dry-run: contradicts --enable-rpc",
		"--enable-rpc -i " + list:                       "usage " + list + ": all-proxy: all downloads of a daemon have the same proxy",
		"--enable-rpc --split=x":                        "usage --split: write a number",
	})
}
