package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"braid/daemon"
	"braid/daemon/queue"
	"braid/download"
	"braid/fleet"
	"braid/fleet/jetstream"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/source"
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

// TestFleetLost: that the server of a queue came back empty is told of by braid queue status, and on the page of a daemon.
func TestFleetLost(t *testing.T) {
	t.Parallel()
	ctx, dir, h := queueHere(t)
	q, err := jetstream.Open(ctx, jetstream.Options{Host: h, Name: "daemon"})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	f, at := &fleetJobs{queue: &fleetQueue{Queue: q}}, time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
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
		if told := strings.Contains(out.String(), "came back empty at "+option.Stamp(at)); code != 0 || told == want.IsZero() {
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

// TestFleetErrorCodes: a job that failed for good has the error code that a daemon without a queue gives it. An ending that an
// older worker has stored has that of its kind.
func TestFleetErrorCodes(t *testing.T) {
	f := &fleetJobs{prefix: "daemon-"}
	ended := func(e fleet.Ending) int {
		j, own := f.jobIn(&fleet.Record{Job: fleet.Job{Watch: "daemon-" + queue.GID(7).String()}, State: fleet.Dead, Last: &e, Tries: 1})
		if !own || j.Status != queue.Failed {
			t.Fatalf("it is %v, own %v", j.Status, own)
		}
		return j.Outcome.Code
	}
	for _, tt := range []struct {
		err         error
		want, older int
	}{
		{&download.Error{Kind: download.Local, What: "file", Err: fs.ErrExist}, 13, 1},
		{&download.Error{Kind: download.Refused, What: "download", Err: &source.Error{Status: 404}}, 3, 22},
		{&download.Error{Kind: download.Mismatch, What: "download", Err: errors.New("e")}, 32, 32},
		{problem.Misuse("split", "write a number", ""), 28, 28},
	} {
		e := fleet.Ending{Code: exitCode(problem.OfDownload(tt.err)), Aria2: problem.Aria2Code(tt.err)} // as workers do
		if got := ended(e); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.err, got, tt.want)
		}
		if e.Aria2 = 0; ended(e) != tt.older {
			t.Errorf("%v, of an older worker: %d, want %d", tt.err, ended(e), tt.older)
		}
	}
}
