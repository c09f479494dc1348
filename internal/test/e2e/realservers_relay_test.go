//go:build realservers

package e2e

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// A relay stands before a server and counts the bytes that go from there to the client. It knows nothing
// of HTTP, so that what it counts is what the client had to receive, header sections and all.
type relay struct {
	addr    string
	backend string
	count   func(n int64) // told of each piece that was sent
	l       net.Listener

	mu    sync.Mutex
	conns map[net.Conn]bool
	wg    sync.WaitGroup
}

// relayBuffer bounds what lies between the relay and the client at one moment: bytes there are counted as
// sent, but a client that is killed never saw them.
const relayBuffer = 64 << 10

// newRelay starts a relay that runs until the test ends.
func newRelay(t testing.TB, backend string, count func(int64)) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{addr: l.Addr().String(), backend: backend, count: count, l: l, conns: map[net.Conn]bool{}}
	r.wg.Go(r.accept)
	t.Cleanup(r.close)
	return r
}

func (r *relay) accept() {
	for {
		client, err := r.l.Accept()
		if err != nil {
			return
		}
		r.wg.Go(func() { r.serve(client.(*net.TCPConn)) })
	}
}

func (r *relay) serve(client *net.TCPConn) {
	defer r.track(client)()
	client.SetWriteBuffer(relayBuffer)
	server, err := net.Dial("tcp", r.backend)
	if err != nil {
		return
	}
	defer r.track(server)()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		io.Copy(server, client)
		server.Close() // the client is gone, and the server need not send on
	})
	buf := make([]byte, 32<<10)
	for {
		n, err := server.Read(buf)
		if err != nil {
			break
		}
		if _, err := client.Write(buf[:n]); err != nil {
			break
		}
		r.count(int64(n))
	}
	client.Close()
}

// track remembers c until the function that it returns closes it.
func (r *relay) track(c net.Conn) (untrack func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns[c] = true
	return func() {
		c.Close()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.conns, c)
	}
}

func (r *relay) close() {
	r.l.Close()
	r.mu.Lock()
	for c := range r.conns {
		c.Close()
	}
	r.mu.Unlock()
	r.wg.Wait()
}

// A meter adds up what several relays send, and calls reached once the sum passes a mark.
type meter struct {
	sum     atomic.Int64
	mark    atomic.Int64 // 0: none
	reached func()
}

func (m *meter) add(n int64) {
	sum := m.sum.Add(n)
	mark := m.mark.Load()
	if mark > 0 && sum >= mark && m.mark.CompareAndSwap(mark, 0) {
		m.reached()
	}
}
