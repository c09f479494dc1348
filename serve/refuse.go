package serve

import (
	"cmp"
	"io"
	"net"
	"sync"
	"time"
)

const (
	// maxRefusals limits the number of refused clients that are answered at the same time. More clients get no answer.
	maxRefusals = 64
	// askTime is the time limit for a refused client to send the first bytes of its request, and then again to receive
	// the answer.
	askTime = 2 * time.Second
	// maxUnheard is the number of bytes of a refused request that are read and discarded after the answer.
	maxUnheard = 64 << 10
)

// busy is the answer to a refused client. It fits into the buffer of any socket.
const busy = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\nContent-Type: text/plain; " +
	"charset=utf-8\r\nContent-Length: 21\r\n\r\ntoo many connections\n"

// refusals are the connections of refused clients that get an answer.
type refusals struct {
	patience time.Duration // for tests; askTime if zero

	running sync.WaitGroup

	mu    sync.Mutex
	open  map[net.Conn]bool // nil before the first refusal
	ended bool
}

// add answers and closes conn in another goroutine.
func (r *refusals) add(conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || len(r.open) >= maxRefusals {
		_ = conn.Close()
		return
	}
	if r.open == nil {
		r.open = map[net.Conn]bool{}
	}
	r.open[conn] = true
	r.running.Go(func() {
		sayBusy(conn, cmp.Or(r.patience, askTime))
		_ = conn.Close()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.open, conn)
	})
}

// end closes all connections, and waits for their goroutines.
func (r *refusals) end() {
	r.mu.Lock()
	r.ended = true
	for conn := range r.open {
		_ = conn.Close()
	}
	r.mu.Unlock()
	r.running.Wait()
}

// sayBusy answers a client after the first bytes of its request, because an earlier answer would not belong to the
// request. Closing a connection with unread bytes resets it, which may destroy the answer. So sayBusy half-closes the
// connection, and reads until the client closes it (RFC 9112, section 9.6).
func sayBusy(conn net.Conn, patience time.Duration) {
	_ = conn.SetDeadline(time.Now().Add(patience))
	if n, _ := conn.Read(make([]byte, 512)); n == 0 {
		return
	}
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, busy); err != nil {
		return
	}
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	_, _ = io.CopyN(io.Discard, conn, maxUnheard)
}
