package rpc

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// A connections is a listener that limits the number of open connections. If there are too many, Accept closes the
// oldest connection whose client has not shown the token. Clients that have shown it are never closed, so that idle
// clients without the token cannot take all places.
type connections struct {
	net.Listener
	most int
	free bool // only the user can connect, so no connection needs to show the token

	mu   sync.Mutex
	open map[*connection]bool
	made uint64
}

// A connection is a connection of a limited listener.
type connection struct {
	net.Conn
	of     *connections
	number uint64 // connections are numbered in the order of their acceptance
	known  bool   // its client has shown the token; protected by the listener's mutex
}

type connectionKey struct{}

// Limit returns a listener that allows at most most open connections of l, including WebSockets. web is the server that
// will serve a [Handler] on it. Clients of a Unix socket are trusted as if they had shown the token. Limit must be
// called before l is wrapped for TLS. It sets web.ConnContext.
func Limit(l net.Listener, web *http.Server, most int) net.Listener {
	web.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if over, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
			c = over.NetConn()
		}
		return context.WithValue(ctx, connectionKey{}, c)
	}
	return &connections{Listener: l, most: most, free: l.Addr().Network() == "unix", open: map[*connection]bool{}}
}

// Accept waits for a connection and accepts it, if the limit allows one more.
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

// admit counts a connection. It returns nil if no open connection can be closed for it.
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

// Close closes the connection and stops counting it.
func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// shown records that the client of a request has shown the token.
func shown(ctx context.Context) {
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok {
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		c.known = true
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
	return c.known
}
