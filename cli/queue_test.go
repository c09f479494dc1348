package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"braid/fleet"
	"braid/fleet/jetstream"
)

// TestQueueDrain: a drain ends when no worker has a job, though one was killed that had one. What another program has called a job writes no escapes on
// the screen.
func TestQueueDrain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h, err := hostIn(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	ctx, stop := context.WithTimeout(t.Context(), 15*time.Second)
	defer stop()
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
