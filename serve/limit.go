package serve

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// defaultMaxConnections is how many connections there may be at a time where LimitListener is not told.
const defaultMaxConnections = 1000

// share is which part of all connections one address may have. This machine may have all: a proxy on it speaks for others.
const share = 4

// A limited is a listener that keeps the connections few.
type limited struct {
	net.Listener
	most  int
	plain bool // a refused client gets an answer, as it does not speak TLS
	extra refusals

	mu   sync.Mutex
	open map[*counted]bool
	by   map[netip.Addr]int
}

// A counted is a connection of a limited listener.
type counted struct {
	net.Conn
	from  *limited
	by    netip.Addr
	idle  bool // it waits for another request, under the listener's mutex
	since time.Time
}

// LimitListener limits the connections of l, which web is about to serve: to most at a time, a quarter of them from one
// address other than this machine (of IPv6, from one /64). If most is zero, it is defaultMaxConnections. When all are
// taken, the one goes that has waited longest for another request; if none waits, a client without TLS gets a 503,
// others are not answered. Call it before a listener for TLS is put around l; it takes web.ConnState. Closing the
// listener closes their connections, too.
func LimitListener(l net.Listener, web *http.Server, most int, overTLS bool) net.Listener {
	if most == 0 {
		most = defaultMaxConnections
	}
	k := &limited{Listener: l, most: most, plain: !overTLS, open: map[*counted]bool{}, by: map[netip.Addr]int{}}
	web.ConnState = k.state
	return k
}

// Accept waits for a connection that there is room for.
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

// admit counts a connection; nil is one too many.
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

// full reports whether there is no room for another connection of an address.
func (k *limited) full(by netip.Addr) bool {
	return len(k.open) >= k.most || k.ownFull(by)
}

// ownFull reports whether an address has as many as it may have.
func (k *limited) ownFull(by netip.Addr) bool {
	return !by.IsLoopback() && k.by[by] >= max(1, k.most/share)
}

// longestIdle is the connection that makes room for another one of an address; nil if none can.
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

// Close closes the listener and the connections that there was no room for.
func (k *limited) Close() error {
	err := k.Listener.Close()
	k.extra.end()
	return err
}

// state notes which connections wait for another request.
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

// gone counts a connection no more.
func (k *limited) gone(c *counted) {
	if !k.open[c] {
		return
	}
	delete(k.open, c)
	if k.by[c.by]--; k.by[c.by] <= 0 {
		delete(k.by, c.by)
	}
}

// Close closes the connection, which is then not counted any more.
func (c *counted) Close() error {
	c.from.mu.Lock()
	c.from.gone(c)
	c.from.mu.Unlock()
	return c.Conn.Close()
}

// addrOf is the address of the other end.
func addrOf(conn net.Conn) netip.Addr {
	if tcp, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		return ownerOf(tcp.AddrPort().Addr())
	}
	return netip.Addr{}
}

// ownerOf is one address for all that one client has: a client with one of IPv6 has the 2^64 of its network (RFC 4291,
// section 2.5.4).
func ownerOf(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if !a.Is6() || a.IsLoopback() {
		return a
	}
	network, _ := a.Prefix(64)
	return network.Addr()
}
