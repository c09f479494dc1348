package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"braid/fleet"
	"braid/fleet/jetstream"
)

// queueHere runs the server of a queue in a folder, for the time of a test.
func queueHere(t *testing.T) (ctx context.Context, dir string, h *jetstream.Host) {
	t.Helper()
	dir = t.TempDir()
	h, err := hostIn(dir, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	ctx, stop := context.WithTimeout(t.Context(), 15*time.Second)
	t.Cleanup(stop)
	return ctx, dir, h
}

// TestQueueDrain: a drain ends when no worker has a job, though one was killed that had one. What another program has called a job writes no escapes on
// the screen.
func TestQueueDrain(t *testing.T) {
	t.Parallel()
	ctx, dir, h := queueHere(t)
	q, err := jetstream.Open(ctx, jetstream.Options{Host: h, Name: "killed\x1b[31m", Works: true, Lease: time.Second})
	if err == nil {
		_, err = q.Report(ctx, fleet.Job{Name: "a\x1b[31m.iso", URIs: []string{"https://example.org/a.iso"}})
	}
	if err == nil {
		_, err = q.Next(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	q.Close()
	var out, told bytes.Buffer
	for _, verb := range []string{"drain", "list"} {
		if code := run(ctx, []string{"braid", "queue", verb, "--queue", "embedded:" + dir}, streams{out: &out, err: &told}); code != 0 {
			t.Errorf("%s ends with %d: %s", verb, code, &told)
		}
	}
	if !strings.Contains(out.String(), "running") || strings.Contains(out.String(), "\x1b") {
		t.Errorf("the list is %q", &out)
	}
}

// TestQueueRetryKilled_Rule76: a job that a retry had stored that was killed before its message comes to a worker with the next retry.
func TestQueueRetryKilled_Rule76(t *testing.T) {
	t.Parallel()
	ctx, dir, h := queueHere(t)
	q, err := jetstream.Open(ctx, jetstream.Options{Host: h, Name: "worker", Works: true})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	j := fleet.Job{Name: "a.iso", URIs: []string{"https://example.org/a.iso"}}
	if _, err := q.Report(ctx, j); err != nil {
		t.Fatal(err)
	}
	c, err := q.Next(ctx)
	if err == nil {
		_, err = c.Finish(ctx, fleet.Ending{Kind: fleet.Useless})
	}
	if err == nil {
		err = queuedOnly(ctx, h, j.Key())
	}
	if err != nil {
		t.Fatal(err)
	}
	var told bytes.Buffer
	if code := run(ctx, []string{"braid", "queue", "retry", "--all", "--queue", "embedded:" + dir}, streams{out: &told, err: &told}); code != 0 {
		t.Errorf("retry ends with %d: %s", code, &told)
	}
	if c, err := q.Next(ctx); err != nil || c.Record.Job.Name != "a.iso" {
		t.Errorf("it waits for ever: %v", err)
	}
}

// queuedOnly makes a dead job a queued one, without a message.
func queuedOnly(ctx context.Context, h *jetstream.Host, key string) error {
	conn, err := nats.Connect(nats.DefaultURL, nats.SetCustomDialer(h))
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := natsjs.New(conn)
	if err != nil {
		return err
	}
	jobs, err := js.KeyValue(ctx, "braid_jobs")
	if err != nil {
		return err
	}
	e, err := jobs.Get(ctx, key)
	if err == nil {
		_, err = jobs.Put(ctx, key, bytes.Replace(e.Value(), []byte(`"dead"`), []byte(`"queued"`), 1))
	}
	return err
}
