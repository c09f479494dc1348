package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"braid/daemon"
	"braid/daemon/queue"
	"braid/fleet"
	"braid/fleet/jetstream"
)

// TestFleetRefuses: an entry whose job a newer braid has written, or which is too large for the queue, fails and says
// why. The others do not wait for it.
func TestFleetRefuses(t *testing.T) {
	t.Parallel()
	ctx, _, h := queueHere(t)
	q, err := jetstream.Open(ctx, jetstream.Options{Host: h, Name: "daemon"})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	if _, err := q.Report(ctx, fleet.Job{Name: "new.iso", URIs: []string{"https://example.org/new.iso"}}); err != nil {
		t.Fatal(err)
	}
	if err := stored(ctx, h, fleet.KeyOf("new.iso"), func([]byte) []byte { return []byte(`{"format":9}`) }); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"new.iso": "a newer braid", "large.iso": "too large for the queue"} {
		f := &fleetJobs{queue: &fleetQueue{Queue: q}, prefix: "daemon-", job: func(queue.Entry) (fleet.Job, error) {
			return fleet.Job{Name: name, URIs: []string{"https://example.org/" + strings.Repeat("x", 3<<20)}}, nil
		}}
		if name == "new.iso" {
			f.job = func(queue.Entry) (fleet.Job, error) {
				return fleet.Job{Name: name, URIs: []string{"https://example.org/new.iso"}}, nil
			}
		}
		err := f.Put(ctx, queue.Entry{GID: 7}, "1")
		if refused, ok := errors.AsType[*daemon.RefusedError](err); !ok || !strings.Contains(refused.Outcome.Message, want) {
			t.Errorf("%s: %.200v", name, err)
		}
	}
}

// TestFleetPrefix: daemons of two machines with one path and one token do not take each other's jobs for their own, and
// withdraw none. A daemon that begins again knows its jobs.
func TestFleetPrefix(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "daemon")
	prefixOf := func() string {
		if err := os.MkdirAll(state, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(state, tokenFile), []byte("the same\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		prefix, err := fleetPrefix(state)
		if err != nil {
			t.Fatal(err)
		}
		return prefix
	}
	here := prefixOf()
	if again := prefixOf(); again != here {
		t.Errorf("begun again it is %q, and was %q", again, here)
	}
	if err := os.RemoveAll(state); err != nil {
		t.Fatal(err)
	}
	if elsewhere := prefixOf(); elsewhere == here {
		t.Errorf("both are %q", here)
	}
}
