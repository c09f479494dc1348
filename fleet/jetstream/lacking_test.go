package jetstream

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// TestLacking: a server without JetStream is told from one that is not ready yet at once, and an interrupt is one
// whatever the queue answers.
func TestLacking(t *testing.T) {
	t.Parallel()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.Shutdown()
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("it does not listen")
	}
	if _, err := Open(t.Context(), Options{URL: s.ClientURL(), Name: "one"}); !Lacking(err) {
		t.Error(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Open(ctx, Options{URL: s.ClientURL(), Name: "one"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
