package torrentsource

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"braid/source"
)

// TestTrackers checks that no URL of a tracker makes the library panic, whether it is invalid or cannot be reached.
func TestTrackers(t *testing.T) {
	m := torrentOf(t, made(t, pieceLength, 1))
	m.Trackers = [][]string{{
		"http://anna:secret@127.0.0.1:1/announce", "HTTP://127.0.0.1:1/a", "http://127.0.0.1:1/a b?\u00fc",
		"http://127.0.0.1:1/%zz", "http://127.0.0.1:1/%c3#\u00fc",
		"UDP://anna@127.0.0.1:1/", "http://\u00fc:1/", "http://127.0.0.1:1/?a;b", "https://[fe80::1%25e]:1/",
	}}
	s := newClient(t, &Client{SwarmConfig: source.SwarmConfig{Timeout: 200 * time.Millisecond}}).Source(m, m.Files[0],
		source.SwarmOptions{})
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
	c := newClient(t, &Client{SwarmConfig: source.SwarmConfig{Timeout: time.Minute}})
	s := c.Source(m, m.Files[0], source.SwarmOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Fetch(ctx, whole, newSink(t, m.Size)) }()
	if n, _, err := tracker.ReadFrom(make([]byte, 100)); err != nil || n != 16 {
		t.Errorf("the tracker is asked with %d bytes: %v", n, err)
	}
	cancel()
	<-ended
	s.Close()
	c.Close()
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

// TestTrackerAsked: a tracker is asked even if the library's timer has missed it, which happens once in some thousand
// times. Here the library is told of no tracker at first.
func TestTrackerAsked(t *testing.T) {
	asked := make(chan string, 10)
	tracker := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }))
	defer tracker.Close()
	m := torrentOf(t, made(t, pieceLength, 1))
	s := newClient(t, &Client{SwarmConfig: source.SwarmConfig{Timeout: time.Minute}}).Source(m, m.Files[0],
		source.SwarmOptions{Named: near})
	defer s.Close()
	swarm, err := s.joined()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Fetch(ctx, whole, newSink(t, m.Size)) }()
	swarm.places.add([][]string{{tracker.URL + "/announce"}}, nil)
	if path := <-asked; path != "/announce" {
		t.Errorf("asked for %s", path)
	}
	cancel()
	<-ended
}

// TestTrackersPeerAgain: a peer that only a tracker named, and that hung up at first, is connected to again. Its tracker
// wants to be asked again in half an hour.
func TestTrackersPeerAgain(t *testing.T) {
	t.Parallel()
	data := made(t, 4*pieceLength, 1)
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
			switch {
			case err != nil:
				return
			case n < 2: // the library tries twice: with an encrypted handshake and without
				conn.Close()
			default:
				go relay(conn, peer, false)
			}
		}
	}()
	port := l.Addr().(*net.TCPAddr).Port
	tracker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write(append([]byte("d8:intervali1800e5:peers6:\x7f\x00\x00\x01"), byte(port>>8), byte(port), 'e'))
	}))
	t.Cleanup(tracker.Close)
	m.Trackers = [][]string{{tracker.URL + "/announce"}}
	s := newClient(t, &Client{SwarmConfig: source.SwarmConfig{Timeout: time.Minute}}).Source(m, m.Files[0],
		source.SwarmOptions{Named: near})
	defer s.Close()
	k := newSink(t, m.Size)
	if err := s.Fetch(t.Context(), whole, k); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, k, data, part(0, m.Size))
}
