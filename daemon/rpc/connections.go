package rpc

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A connections is a listener with a limited number of connections. At the limit, it closes the oldest connection of a
// client with a wrong token. Without such a client, it closes the oldest connection of a client that has not shown the
// token, even an active one, because idle clients could otherwise use up the limit. Connections of clients that have
// shown the token stay open. A client has some time to show the token before its connection may be closed, so that a
// flood of new clients cannot keep others out. Until then, new connections wait.
type connections struct {
	net.Listener
	most int
	free bool          // listens on a Unix socket that only the user can connect to
	left chan struct{} // of capacity 1; receives when a connection has ended or may now be closed

	mu     sync.Mutex
	open   map[*connection]bool
	made   uint64
	closed bool
}

// A connection is a connection accepted by a connections.
type connection struct {
	net.Conn
	of     *connections
	number uint64                    // increases with each connection
	read   atomic.Pointer[time.Time] // time of the first Read; nil before

	standing standing // guarded by of.mu
}

// A standing is how far a client is trusted.
type standing uint8

const (
	unknown  standing = iota // the client has shown no token
	stranger                 // the client has shown a wrong token, or sent a long request without one
	friend                   // the client has shown the token
)

// showTime is the time limit for a client to show the token, however many other clients connect. It counts from the
// first Read of the connection, which may be long after Accept on a busy machine.
const showTime = 500 * time.Millisecond

type connectionKey struct{}

// Limit returns a listener that limits the open connections of l, including WebSockets, to the number most. web is the
// server that will serve a [Handler] on the returned listener. Limit sets web.ConnContext. Clients of a Unix socket are
// trusted as if they had shown the token. Limit must be called before l is wrapped for TLS.
func Limit(l net.Listener, web *http.Server, most int) net.Listener {
	web.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if over, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
			c = over.NetConn()
		}
		return context.WithValue(ctx, connectionKey{}, c)
	}
	return &connections{Listener: l, most: most, free: l.Addr().Network() == "unix", left: make(chan struct{}, 1),
		open: map[*connection]bool{}}
}

// Accept accepts the next connection. It returns the connection when the limit allows one more.
func (k *connections) Accept() (net.Conn, error) {
	for {
		conn, err := k.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := k.admit(conn); c != nil {
			return c, nil
		}
		_ = conn.Close()
	}
}

// Close closes the listener, and a connection that waits because of the limit.
func (k *connections) Close() error {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.leave()
	return k.Listener.Close()
}

// admit adds conn, after closing other connections if necessary. It returns nil if the limit is reached and no
// connection may be closed, or if k is closed.
func (k *connections) admit(conn net.Conn) *connection {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.open) >= k.most {
		first, wait := k.first()
		if first == nil || k.closed {
			return nil
		}
		if wait > 0 {
			k.mu.Unlock()
			k.await(wait)
			k.mu.Lock()
			continue
		}
		delete(k.open, first)
		_ = first.Conn.Close()
	}
	k.made++
	c := &connection{Conn: conn, of: k, number: k.made}
	if k.free {
		c.standing = friend
	}
	k.open[c] = true
	return c
}

// first returns the connection to close first, and the time until it may be closed. It returns a nil connection if none
// may be closed. k.mu must be held.
func (k *connections) first() (first *connection, wait time.Duration) {
	for c := range k.open {
		if c.standing == friend {
			continue
		}
		w := c.mayStay()
		if first == nil || w < wait || w == wait && c.number < first.number {
			first, wait = c, w
		}
	}
	return first, max(0, wait)
}

// mayStay returns the time until c may be closed. It is negative if c should be closed before other connections.
// c.of.mu must be held.
func (c *connection) mayStay() time.Duration {
	at := c.read.Load()
	switch {
	case c.standing == stranger:
		return -1
	case at == nil:
		return showTime
	}
	return max(0, time.Until(at.Add(showTime)))
}

// Read reads from the connection and records the time of the first Read.
func (c *connection) Read(p []byte) (int, error) {
	if c.read.Load() == nil {
		now := time.Now()
		c.read.CompareAndSwap(nil, &now)
	}
	return c.Conn.Read(p)
}

// await waits until a connection has ended or may be closed, at most for the given time.
func (k *connections) await(most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-k.left:
	case <-timer.C:
	}
}

// leave wakes the goroutine that waits because of the limit, if any.
func (k *connections) leave() {
	select {
	case k.left <- struct{}{}:
	default:
	}
}

// Close closes the connection, which then no longer counts towards the limit.
func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	c.of.leave()
	return c.Conn.Close()
}

// shown raises the standing of the client that sent the request with context ctx to s. It never lowers the standing.
func shown(ctx context.Context, s standing) {
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok {
		c.of.mu.Lock()
		c.standing = max(c.standing, s)
		c.of.mu.Unlock()
		if s == stranger {
			c.of.leave()
		}
	}
}

// isKnown reports whether the client that sent the request with context ctx has shown the token.
func isKnown(ctx context.Context) bool {
	c, ok := ctx.Value(connectionKey{}).(*connection)
	if !ok {
		return false
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return c.standing == friend
}
