package torrentsource

import (
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"braid/source"
)

// TestDeadlineAfterTheEnd checks that a deadline can be set on a connection that was closed with its swarm, because the
// library panics otherwise.
func TestDeadlineAfterTheEnd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w := &ways{ctx: t.Context(), client: &Client{}, named: near}
	conn, err := w.Dial(t.Context(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	w.close()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		t.Error(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("it can be read")
	}
}

// TestListenAgain checks that a swarm that has ended does not listen any more, so that the next one can use its
// address, for example after the metadata of a magnet link.
func TestListenAgain(t *testing.T) {
	m := torrentOf(t, made(t, 2*pieceLength, 1))
	addr := fmt.Sprint("127.93.7.1:", 10_000+os.Getpid()%20_000) // used by no other test and never assigned by the system
	c := newClient(t, &Client{Listen: addr})
	for i := range 100 {
		w, err := c.start(key{m.InfoHash, near}, false, source.SwarmOptions{}, geometry{})
		if err != nil {
			t.Fatalf("swarm %d: %v", i, err)
		}
		w.close()
	}
}
