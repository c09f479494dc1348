package jetstream

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"braid/fleet"
)

// TestStoresAgain: the server in this process switches its storage off when a write fails, as on a full disk. It begins
// again, with what was stored.
func TestStoresAgain(t *testing.T) {
	t.Parallel()
	h := hosted(t, t.TempDir())
	q := opened(t, h, "a", time.Minute)
	report(t, q, disk("1"), fleet.Fresh)
	if err := h.server.Load().(*server.Server).ShutdownJetStream(); err != nil {
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

// TestIllness: a server that is busy, or makes a stream, is well; one that was told of a write that failed is not, nor
// one whose stream is never known.
func TestIllness(t *testing.T) {
	t.Parallel()
	now := func(all ...server.HealthzError) *server.HealthStatus { return &server.HealthStatus{Errors: all} }
	busy := server.HealthzError{Type: server.HealthzErrorConn,
		Error: "failed to be ready for connections after 1ms: startup did not complete"}
	made := server.HealthzError{Type: server.HealthzErrorStream, Stream: "one",
		Error: "JetStream stream '$G > one' could not be recovered"}
	foreign := server.HealthzError{Type: server.HealthzErrorAccount, Account: "notes.txt",
		Error: "JetStream account 'notes.txt' could not be resolved"}
	unknown := map[string]int{}
	if why := illness(now(foreign), unknown); why != "" {
		t.Error(why)
	}
	for range 2 {
		for range mostUnknown - 1 {
			for _, look := range []*server.HealthStatus{now(made), now(busy)} {
				if why := illness(look, unknown); why != "" {
					t.Fatal(why)
				}
			}
		}
		if why := illness(now(), unknown); why != "" || len(unknown) > 0 {
			t.Fatalf("%q, %v", why, unknown)
		}
	}
	for range mostUnknown - 1 {
		illness(now(made), unknown)
	}
	for _, look := range []*server.HealthStatus{
		now(made), now(server.HealthzError{Type: server.HealthzErrorJetStream, Error: "not enabled"}),
		now(made, foreign, server.HealthzError{Type: server.HealthzErrorStream, Stream: "two",
			Error: "JetStream stream '$G > two' write error: no space left on device"}),
	} {
		if illness(look, unknown) == "" {
			t.Errorf("%+v is well", look)
		}
	}
}
