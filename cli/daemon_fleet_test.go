//go:build !nofleet

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"braid/daemon"
	"braid/daemon/queue"
	"braid/fleet"
	"braid/fleet/jetstream"
	"braid/internal/option"
	"braid/internal/service"
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
		uri := "https://example.org/new.iso"
		if name == "large.iso" {
			uri = "https://example.org/" + strings.Repeat("x", 3<<20)
		}
		f := service.NewFleetJobs(q, "daemon-", func(queue.Entry) (fleet.Job, error) {
			return fleet.Job{Name: name, URIs: []string{uri}}, nil
		}, exitKind)
		err := f.Put(ctx, queue.Entry{GID: 7}, "1")
		if refused, ok := errors.AsType[*daemon.RefusedError](err); !ok || !strings.Contains(refused.Outcome.Message, want) {
			t.Errorf("%s: %.200v", name, err)
		}
	}
}

// TestFleetLost: that the server of a queue came back empty is told of by braid queue status, and on the page of a daemon.
func TestFleetLost(t *testing.T) {
	t.Parallel()
	ctx, dir, h := queueHere(t)
	q, err := jetstream.Open(ctx, jetstream.Options{Host: h, Name: "daemon"})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	f, at := service.NewFleetJobs(q, "daemon-", nil, exitKind), time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	for _, want := range []time.Time{{}, at} {
		if !want.IsZero() {
			if err := storedIn(ctx, h, "braid_leases", func(leases natsjs.KeyValue) error {
				_, err := leases.Put(ctx, "lost", fmt.Appendf(nil, `{"at":%q,"by":"a worker"}`, at.Format(time.RFC3339)))
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		if s, err := f.Look(ctx, 1); err != nil || !s.Lost.Equal(want) {
			t.Errorf("the page is told of %v, %v; want %v", s.Lost, err, want)
		}
		var out bytes.Buffer
		code := run(ctx, []string{"braid", "queue", "status", "--queue", "embedded:" + dir}, streams{out: &out, err: &out})
		if told := strings.Contains(out.String(), "lost its data at "+option.Stamp(at)); code != 0 || told == want.IsZero() {
			t.Errorf("lost at %v: exit %d, %s", want, code, &out)
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
