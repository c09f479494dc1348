package torrentsource

import (
	"net"
	"testing"
	"time"
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
