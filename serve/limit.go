package serve

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// defaultMaxConnections is the default of the parameter most of LimitListener.
const defaultMaxConnections = 1000

// share is the divisor for the limit of one address: most/share connections. Loopback addresses have no such limit,
// because a proxy on this machine acts for many clients.
const share = 4

// limited is a listener that limits the number of connections.
type limited struct {
	net.Listener
	most  int
	plain bool // without TLS: a refused client gets an answer
	extra refusals

	mu   sync.Mutex
	open map[*counted]bool
	by   map[netip.Addr]int
}

// counted is a connection of a limited listener.
type counted struct {
	net.Conn
	from  *limited
	by    netip.Addr
	idle  bool // waits for another request; guarded by the listener's mutex
	since time.Time
}

// LimitListener limits the connections of l, which web is about to serve: to most at a time, and from one address (for
// IPv6, one /64) other than this machine to a quarter of most. If most is zero, it is defaultMaxConnections. If no
// connection is free, the connection that has been idle longest is closed. If no connection is idle, a client without
// TLS gets a 503, and a client with TLS no answer. LimitListener must be called before a TLS listener is put around l.
// It sets web.ConnState. Closing the listener also closes the connections of refused clients.
func LimitListener(l net.Listener, web *http.Server, most int, overTLS bool) net.Listener {
	if most == 0 {
		most = defaultMaxConnections
	}
	k := &limited{Listener: l, most: most, plain: !overTLS, open: map[*counted]bool{}, by: map[netip.Addr]int{}}
	web.ConnState = k.state
	return k
}

// Accept waits for a connection within the limits.
func (k *limited) Accept() (net.Conn, error) {
	for {
		conn, err := k.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := k.admit(conn); c != nil {
			return c, nil
		}
		k.refuse(conn)
	}
}

// admit counts a connection. It returns nil if the connection exceeds the limits.
func (k *limited) admit(conn net.Conn) *counted {
	c := &counted{Conn: conn, from: k, by: addrOf(conn)}
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.full(c.by) {
		oldest := k.longestIdle(c.by)
		if oldest == nil {
			return nil
		}
		k.gone(oldest)
		_ = oldest.Conn.Close()
	}
	k.open[c] = true
	k.by[c.by]++
	return c
}

// full reports whether another connection from the address by would exceed a limit.
func (k *limited) full(by netip.Addr) bool {
	return len(k.open) >= k.most || k.ownFull(by)
}

// ownFull reports whether the address by has reached the limit for one address.
func (k *limited) ownFull(by netip.Addr) bool {
	return !by.IsLoopback() && k.by[by] >= max(1, k.most/share)
}

// longestIdle returns the idle connection to close for a new connection from the address by, or nil.
func (k *limited) longestIdle(by netip.Addr) (oldest *counted) {
	own := k.ownFull(by)
	for c := range k.open {
		if c.idle && (!own || c.by == by) && (oldest == nil || c.since.Before(oldest.since)) {
			oldest = c
		}
	}
	return oldest
}

func (k *limited) refuse(conn net.Conn) {
	if !k.plain {
		_ = conn.Close()
		return
	}
	k.extra.add(conn)
}

// Close closes the listener and the connections of refused clients.
func (k *limited) Close() error {
	err := k.Listener.Close()
	k.extra.end()
	return err
}

// state records which connections are idle.
func (k *limited) state(conn net.Conn, s http.ConnState) {
	if over, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS
		conn = over.NetConn()
	}
	c, ok := conn.(*counted)
	if !ok {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	c.idle, c.since = s == http.StateIdle, time.Now()
}

// gone removes a connection from the counts.
func (k *limited) gone(c *counted) {
	if !k.open[c] {
		return
	}
	delete(k.open, c)
	if k.by[c.by]--; k.by[c.by] <= 0 {
		delete(k.by, c.by)
	}
}

// Close closes the connection and removes it from the counts.
func (c *counted) Close() error {
	c.from.mu.Lock()
	c.from.gone(c)
	c.from.mu.Unlock()
	return c.Conn.Close()
}

// addrOf returns the address of the client.
func addrOf(conn net.Conn) netip.Addr {
	if tcp, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		return ownerOf(tcp.AddrPort().Addr())
	}
	return netip.Addr{}
}

// ownerOf returns the same address for all addresses of a client: a client with an IPv6 address usually has the 2^64
// addresses of its network (RFC 4291, section 2.5.4).
func ownerOf(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if !a.Is6() || a.IsLoopback() {
		return a
	}
	network, _ := a.Prefix(64)
	return network.Addr()
}
