package rpc

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// A connections is a listener that keeps the connections few. A client that has shown the token keeps its own; where
// there is no room, the one goes that is the oldest of the others, whatever it does: else clients that do nothing could
// take all places.
type connections struct {
	net.Listener
	most int
	free bool // only the user can connect

	mu   sync.Mutex
	open map[*connection]bool
	made uint64
}

// A connection is one of a limited listener.
type connection struct {
	net.Conn
	of     *connections
	number uint64 // a newer one has a higher one
	known  bool   // its client has shown the token, under the mutex of the listener
}

type connectionKey struct{}

// Limit limits the connections of l, WebSockets among them, which web is about to serve with a [Handler]: to most at a
// time. A client that connects over a socket of the file system is the user. Call it before a listener for TLS is put
// around l; it takes web.ConnContext.
func Limit(l net.Listener, web *http.Server, most int) net.Listener {
	web.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if over, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
			c = over.NetConn()
		}
		return context.WithValue(ctx, connectionKey{}, c)
	}
	return &connections{Listener: l, most: most, free: l.Addr().Network() == "unix", open: map[*connection]bool{}}
}

// Accept waits for a connection that there is room for.
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

// admit counts a connection; nil is one too many.
func (k *connections) admit(conn net.Conn) *connection {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.open) >= k.most {
		var oldest *connection
		for c := range k.open {
			if !c.known && (oldest == nil || c.number < oldest.number) {
				oldest = c
			}
		}
		if oldest == nil {
			return nil
		}
		delete(k.open, oldest)
		_ = oldest.Conn.Close()
	}
	k.made++
	c := &connection{Conn: conn, of: k, number: k.made, known: k.free}
	k.open[c] = true
	return c
}

// Close closes the connection, which is then not counted any more.
func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// shown notes that the client of a request has shown the token.
func shown(ctx context.Context) {
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok {
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		c.known = true
	}
}

// isKnown reports whether it has.
func isKnown(ctx context.Context) bool {
	c, ok := ctx.Value(connectionKey{}).(*connection)
	if !ok {
		return false
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return c.known
}
