package cli

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"braid/daemon/queue"
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
