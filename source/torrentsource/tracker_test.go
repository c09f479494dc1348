package torrentsource

import (
	"bytes"
	"context"
	"net"
	"runtime"
	"testing"
	"time"

	"braid/source"
)

// TestTrackers checks that no URL of a tracker makes the library panic, whether it is invalid or cannot be reached.
func TestTrackers(t *testing.T) {
	m := torrentOf(t, made(t, pieceLength, 1))
	m.Trackers = [][]string{{
		"http://anna:secret@127.0.0.1:1/announce", "HTTP://127.0.0.1:1/a", "http://127.0.0.1:1/a b?\u00fc", "http://127.0.0.1:1/%zz", "http://127.0.0.1:1/%c3#\u00fc",
		"UDP://anna@127.0.0.1:1/", "http://\u00fc:1/", "http://127.0.0.1:1/?a;b", "https://[fe80::1%25e]:1/",
	}}
	s := newClient(t, &Client{SwarmConfig: source.SwarmConfig{Timeout: 200 * time.Millisecond}}).Source(m, m.Files[0], source.SwarmOptions{})
	defer s.Close()
	if err := s.Fetch(t.Context(), whole, newSink(t, m.Size)); err == nil {
		t.Error("it came from nowhere")
	}
}

// TestTrackerSocket checks that a socket that could not be opened fails when it is used.
func TestTrackerSocket(t *testing.T) {
	w := &ways{ctx: t.Context(), client: &Client{}, named: near}
	w.close()
	conn, err := w.listenTracker("udp4", ":0")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := conn.ReadFrom(nil); err == nil || conn.LocalAddr() == nil || conn.Close() != nil {
		t.Error("it can be read")
	}
	if _, err := conn.WriteTo(nil, nil); err == nil {
		t.Error("it sends")
	}
}

// TestTrackerSilent checks that a request to a tracker that does not respond ends with the swarm.
func TestTrackerSilent(t *testing.T) {
	tracker, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tracker.Close()
	m := torrentOf(t, made(t, pieceLength, 1))
	m.Trackers = [][]string{{"udp://" + tracker.LocalAddr().String() + "/announce"}}
	asked := func() bool {
		c := newClient(t, &Client{SwarmConfig: source.SwarmConfig{Timeout: time.Minute}})
		s := c.Source(m, m.Files[0], source.SwarmOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Fetch(ctx, whole, newSink(t, m.Size)) }()
		tracker.SetReadDeadline(time.Now().Add(15 * time.Second))
		n, _, err := tracker.ReadFrom(make([]byte, 100))
		if err == nil && n != 16 {
			t.Errorf("the tracker is asked with %d bytes", n)
		}
		cancel()
		<-ended
		s.Close()
		c.Close()
		return err == nil
	}
	for tries := 5; !asked(); tries-- { // the library may have set its timer to a later time
		if tries == 0 {
			t.Fatal("the tracker is not asked")
		}
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		stacks := make([]byte, 1<<20)
		if stacks = stacks[:runtime.Stack(stacks, true)]; !bytes.Contains(stacks, []byte("tracker/udp.(*Client)")) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the question outlives the swarm:\n%s", stacks)
		}
	}
}
