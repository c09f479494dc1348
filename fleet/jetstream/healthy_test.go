package jetstream

import (
	"context"
	"testing"
	"time"

	"braid/fleet"
)

// TestStoresAgain: the server in this process switches its storage off when a write fails, as on a full disk. It begins again, with what was stored.
func TestStoresAgain(t *testing.T) {
	t.Parallel()
	h := hosted(t, t.TempDir())
	q := opened(t, h, "a", time.Minute)
	report(t, q, disk("1"), fleet.Fresh)
	if err := h.server.Load().ShutdownJetStream(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	other := fleet.Job{Name: "other.iso", URIs: []string{"https://example.org/other.iso"}}
	for {
		once, end := context.WithTimeout(ctx, oneCall)
		_, err := q.Report(once, other)
		end()
		if err == nil {
			break
		}
		if rest(ctx, 10*time.Millisecond) != nil {
			t.Fatalf("it stays down: %v", err)
		}
	}
	if r := record(t, q, "disk.iso"); r.State != fleet.Queued {
		t.Errorf("what was stored before is %+v", r)
	}
}
