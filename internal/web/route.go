package web

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"sync/atomic"
	"syscall"

	"braid/address"
)

// route is the route of one request: its proxy, if any, and the addresses that the request may connect to (rule 63).
// After resolving a name, the dialer calls control for each address before it connects. An idle connection may be from
// a request with a wider permission, so its address is checked again before it is reused.
type route struct {
	host   string
	proxy  *url.URL
	policy address.Policy
	from   atomic.Uint32
}

// route returns the route of a request to u. The request may connect to addresses in named, or anywhere if named is
// zero, but not to addresses in not. If the host of u is an address, route checks it. Otherwise the addresses of the
// host are checked when its name is resolved. If a proxy or the user's Transport connects instead, these addresses are
// unknown, so route refuses names that are never public. The error is an *address.Error or an error of Proxy.
func (c *Client) route(u *url.URL, named address.Scope, not *address.Exclusion) (w *route, err error) {
	w = &route{host: u.Hostname()}
	w.policy = c.AllowHosts.Policy(w.host, cmp.Or(named, address.Anywhere))
	w.policy.Not = not
	if err := w.policy.CheckHost(w.host); err != nil {
		return nil, err
	}
	if c.Transport == nil {
		if w.proxy, err = c.Proxy(u); err != nil {
			return nil, err
		}
	}
	if w.proxy != nil || c.Transport != nil {
		if err := w.policy.CheckProxied(w.host); err != nil {
			return nil, err
		}
	}
	if w.proxy != nil {
		w.policy = address.Policy{Scope: address.Anywhere} // the user named the proxy
	}
	return w, nil
}

type routeKey struct{}

// context returns ctx with the route and t. It adds gotConn to t itself: httptrace would merge two sets of hooks by
// reflection, a large part of the cost of a small request.
func (w *route) context(ctx context.Context, t *httptrace.ClientTrace) context.Context {
	before := t.GotConn
	t.GotConn = func(info httptrace.GotConnInfo) {
		if before != nil {
			before(info)
		}
		w.gotConn(info)
	}
	return httptrace.WithClientTrace(context.WithValue(ctx, routeKey{}, w), t)
}

// gotConn is called when a connection was chosen, before anything is written. It closes a connection that is not
// allowed. The transport then tries another connection or dials, which control refuses.
func (w *route) gotConn(info httptrace.GotConnInfo) {
	a := addrOf(info.Conn)
	if w.policy.Check(a) != nil {
		info.Conn.Close()
		return
	}
	w.from.Store(uint32(address.Of(a)))
}

// addrOf returns the remote address, or the zero Addr if it is not an IP address.
func addrOf(c net.Conn) netip.Addr {
	if tcp, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr()
	}
	return netip.Addr{}
}

// server returns the scope of the server that answered. If the connection cannot be observed, it returns the scope of
// the host name, or public if the name has no scope.
func (w *route) server() address.Scope {
	if s := address.Scope(w.from.Load()); w.proxy == nil && s != 0 {
		return s
	}
	if s, ok := address.OfHost(w.host); ok {
		return s
	}
	return address.Public
}

var errNoRoute = errors.New("a connection without a request")

// control is the function net.Dialer.ControlContext. Its error is an *address.Error, after which the dialer tries the
// next address of the host.
func control(ctx context.Context, _, to string, _ syscall.RawConn) error {
	w, ok := ctx.Value(routeKey{}).(*route)
	if !ok {
		return errNoRoute
	}
	at, err := netip.ParseAddrPort(to)
	if err != nil {
		return err
	}
	return w.policy.Check(at.Addr())
}

// chosenProxy returns the proxy that route chose for a request, so that the checks of the route remain valid.
func chosenProxy(req *http.Request) (*url.URL, error) {
	w, ok := req.Context().Value(routeKey{}).(*route)
	if !ok {
		return nil, errNoRoute
	}
	return w.proxy, nil
}

// proxied reports whether a connection is being dialed for a request through a proxy.
func proxied(ctx context.Context) bool {
	w, ok := ctx.Value(routeKey{}).(*route)
	return ok && w.proxy != nil
}
