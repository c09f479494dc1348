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

// A route is how one request goes out: through which proxy, if any, and to which addresses (rule 63). A dialer that has
// looked a name up calls control for each address, right before it connects. A connection that waited for another
// request may have been made for one that was allowed more; it is looked at before it is used again.
type route struct {
	host   string
	proxy  *url.URL
	policy address.Policy
	from   atomic.Uint32
}

// route finds the route of a request to u that may lead to named, where zero is anywhere, but not to what is excluded.
// An address in the URL is checked here, and a name that is never public if a proxy or a Transport of the user's
// connects, which are out of sight; else the addresses are checked that a name turns out to have. The error is an
// *address.Error, or that of Proxy.
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
		w.policy = address.Policy{Scope: address.Anywhere} // it is the user who named the proxy
	}
	return w, nil
}

type routeKey struct{}

// context is ctx for the request.
func (w *route) context(ctx context.Context) context.Context {
	ctx = context.WithValue(ctx, routeKey{}, w)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: w.gotConn})
}

// gotConn is called when a connection was chosen and nothing is written yet. One that is not allowed is closed: the
// transport then takes another one, and dials when there is none, which control refuses.
func (w *route) gotConn(info httptrace.GotConnInfo) {
	a := addrOf(info.Conn)
	if w.policy.Check(a) != nil {
		info.Conn.Close()
		return
	}
	w.from.Store(uint32(address.Of(a)))
}

// addrOf is the address at the other end; none if it is not of IP.
func addrOf(c net.Conn) netip.Addr {
	if tcp, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr()
	}
	return netip.Addr{}
}

// server is where the server is that answered. One whose connection is out of sight is taken for public, unless its
// host tells something else.
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

// control is for net.Dialer.ControlContext. The error is an *address.Error; the dialer then tries the next address of the host.
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

// chosenProxy is the proxy of a request. It was chosen once: the check must be of the route that is taken.
func chosenProxy(req *http.Request) (*url.URL, error) {
	w, ok := req.Context().Value(routeKey{}).(*route)
	if !ok {
		return nil, errNoRoute
	}
	return w.proxy, nil
}

// proxied reports whether a connection is dialed for a request that goes through a proxy.
func proxied(ctx context.Context) bool {
	w, ok := ctx.Value(routeKey{}).(*route)
	return ok && w.proxy != nil
}
