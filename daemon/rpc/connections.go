package rpc

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A connections is a listener with a limited number of connections. A client that has shown the token keeps its
// connections. At the limit, the oldest connection of a client with a wrong token is closed. Without such a client, the
// oldest connection without a token is closed, even if it is active, because idle clients could otherwise occupy the
// limit. A connection is not closed before it had time to show the token, so a flood of new clients cannot keep others
// out. Meanwhile a new connection waits.
type connections struct {
	net.Listener
	most int
	free bool          // only the user can connect
	left chan struct{} // of capacity 1; receives when a connection ended or may be closed

	mu     sync.Mutex
	open   map[*connection]bool
	made   uint64
	closed bool
}

// A connection is a connection of a limited listener.
type connection struct {
	net.Conn
	of     *connections
	number uint64                    // ascending
	read   atomic.Pointer[time.Time] // time of the first Read; nil before

	standing standing // guarded by the mutex of the listener
}

// A standing is the trust that a client has earned.
type standing uint8

const (
	unknown  standing = iota // nothing yet
	stranger                 // a wrong token, or a long request without one
	friend                   // the token
)

// showTime is the time that a client has to show the token, however many other clients connect. It begins with the
// first Read, which on a busy machine may be long after Accept.
const showTime = 500 * time.Millisecond

type connectionKey struct{}

// Limit returns a listener that allows at most most open connections of l, including WebSockets. web is the server that
// will serve a [Handler] on the returned listener; Limit sets web.ConnContext. Clients of a Unix socket are trusted as
// if they had shown the token. Limit must be called before l is wrapped for TLS.
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

// Accept waits for a connection and accepts it when the limit allows another connection.
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

// Close closes the listener. A connection that waits for the limit is closed.
func (k *connections) Close() error {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.leave()
	return k.Listener.Close()
}

// admit adds a connection, after closing others if necessary. It returns nil if the limit is reached.
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

// first returns the connection to close first, and the time until it may be closed. It returns nil if none may be
// closed. The caller holds the mutex.
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

// mayStay returns the time until the connection may be closed. The time is negative if the connection should be closed
// before others. The caller holds the mutex.
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

// Read reads from the connection.
func (c *connection) Read(p []byte) (int, error) {
	if c.read.Load() == nil {
		now := time.Now()
		c.read.CompareAndSwap(nil, &now)
	}
	return c.Conn.Read(p)
}

// await waits until a connection has ended or may be closed, for a limited time.
func (k *connections) await(most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-k.left:
	case <-timer.C:
	}
}

// leave wakes a connection that waits for the limit.
func (k *connections) leave() {
	select {
	case k.left <- struct{}{}:
	default:
	}
}

// Close closes the connection and removes it from the count.
func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	c.of.leave()
	return c.Conn.Close()
}

// shown records the standing of a request's client. A client that has shown the token once stays a friend.
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

// isKnown reports whether the client of a request has shown the token.
func isKnown(ctx context.Context) bool {
	c, ok := ctx.Value(connectionKey{}).(*connection)
	if !ok {
		return false
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return c.standing == friend
}
