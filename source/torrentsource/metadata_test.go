package torrentsource

import (
	"io"
	"net"
	"testing"
	"time"

	"braid/metalink/metainfo"
	"braid/source"
)

// TestMetadataOfBusyPeer: a peer that shakes hands and then says nothing, as one does that is still checking its file, is
// connected to again.
func TestMetadataOfBusyPeer(t *testing.T) {
	t.Parallel()
	data := made(t, 1<<20, 1)
	m := torrentOf(t, data)
	_, peer := seeder(t, m, data)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for n := 0; ; n++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go relay(conn, peer, n == 0)
		}
	}()
	c := newClient(t, &Client{SwarmConfig: source.SwarmConfig{Timeout: 12 * time.Second}})
	link := metainfo.Magnet{InfoHash: m.InfoHash, Peers: []string{l.Addr().String()}}
	if _, err := c.Metadata(t.Context(), link, near); err != nil {
		t.Error(err)
	}
}

// relay connects conn with a peer. If mute is set, the peer's handshake is all that comes back.
func relay(conn net.Conn, peer string, mute bool) {
	defer conn.Close()
	to, err := net.Dial("tcp", peer)
	if err != nil {
		return
	}
	defer to.Close()
	go func() {
		const handshake = 68 // bytes (BEP 3)
		if _, err := io.CopyN(conn, to, handshake); err == nil && !mute {
			io.Copy(conn, to)
			conn.Close()
		}
	}()
	io.Copy(to, conn)
}

// TestHangUp: only a connection to a peer that brought too little for a whole turn is closed.
func TestHangUp(t *testing.T) {
	w := &ways{}
	open := func(peer bool) *wire {
		conn, other := net.Pipe()
		t.Cleanup(func() { other.Close() })
		c := &wire{Conn: conn, ways: w, peer: peer}
		w.hold(c)
		return c
	}
	idle, busy, tracker := open(true), open(true), open(false)
	turn := func(want ...*wire) {
		t.Helper()
		w.hangUp(1000)
		if len(w.open) != len(want) {
			t.Errorf("%d connections are open, want %d", len(w.open), len(want))
		}
		for _, c := range want {
			if _, ok := w.open[c]; !ok {
				t.Error("a connection is closed that was to stay")
			}
		}
	}
	turn(idle, busy, tracker)
	young := open(true)
	busy.came.Add(1000)
	turn(young, busy, tracker)
	turn(tracker)
}
