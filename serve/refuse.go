package serve

import (
	"cmp"
	"io"
	"net"
	"sync"
	"time"
)

const (
	// maxRefusals is how many clients are answered at a time that there is no room for them. Those beyond that get no answer.
	maxRefusals = 64
	// askTime is how long such a client may take to send the first bytes of its request, and then again to take the answer.
	askTime = 2 * time.Second
	// maxUnheard is how much of its request is read and thrown away after the answer.
	maxUnheard = 64 << 10
)

// busy is the answer to a client whose connection is one too many. It fits into any socket's buffer.
const busy = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 21\r\n\r\ntoo many connections\n"

// refusals are the connections that are one too many and get an answer.
type refusals struct {
	patience time.Duration // for tests; askTime if zero

	running sync.WaitGroup

	mu    sync.Mutex
	open  map[net.Conn]bool // nil: none was refused yet
	ended bool
}

// add answers conn and closes it. It does not wait for that.
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

// end closes all connections, and waits until the last of them is done.
func (r *refusals) end() {
	r.mu.Lock()
	r.ended = true
	for conn := range r.open {
		_ = conn.Close()
	}
	r.mu.Unlock()
	r.running.Wait()
}

// sayBusy answers a client when it has begun to ask: what comes before that is no answer to anything. A connection that
// is closed while bytes of the request are unread is reset, which may destroy the answer; so it is half-closed, and
// read until the client closes it (RFC 9112, section 9.6).
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
