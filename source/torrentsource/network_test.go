package torrentsource

import (
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"braid/source"
)

// A connection that ends with the swarm takes a deadline all the same: the library ends the program if it does not.
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

// A swarm that has ended listens no more: the next one, as that of a magnet link after its metadata, may have its address.
func TestListenAgain(t *testing.T) {
	m := torrentOf(t, made(t, 2*pieceLength, 1))
	addr := fmt.Sprint("127.93.7.1:", 10_000+os.Getpid()%20_000) // no other test is there, and the system gives away none of these ports
	c := newClient(t, &Client{Listen: addr})
	for i := range 100 {
		w, err := c.start(key{m.InfoHash, near}, false, source.SwarmOptions{}, geometry{})
		if err != nil {
			t.Fatalf("swarm %d: %v", i, err)
		}
		w.close()
	}
}
