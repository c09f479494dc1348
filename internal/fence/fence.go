// Package fence keeps requests of net/http off addresses that are none of the business of who named them: the checks of
// package address, where connections are made (rule 63).
//
//	dialer := net.Dialer{ControlContext: fence.Control}
//	transport := &http.Transport{DialContext: dialer.DialContext}
//
//	v := fence.Begin(policy) // for each request
//	resp, err := transport.RoundTrip(req.WithContext(v.Context(ctx)))
//	next := address.Public | v.From() // what the server that answered may name, a redirect for example
//
// A dialer that has looked a name up calls Control for each address, right before it connects. A connection that waited for
// another request may have been made for somebody who was allowed more; it is looked at before it is used again.
//
// The package refuses to choose policies, and it sees nothing of what a proxy connects to.
package fence

import (
	"context"
	"errors"
	"net"
	"net/http/httptrace"
	"net/netip"
	"sync/atomic"
	"syscall"

	"braid/address"
)

// A Visit is one request and where it may lead.
type Visit struct {
	policy address.Policy
	from   atomic.Uint32
}

// Begin begins a visit to where p allows.
func Begin(p address.Policy) *Visit { return &Visit{policy: p} }

type key struct{}

// Context is ctx for the request of the visit.
func (v *Visit) Context(ctx context.Context) context.Context {
	ctx = context.WithValue(ctx, key{}, v)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: v.got})
}

// From says where the server is that the request was sent to, or its proxy. It is empty if there was no connection.
func (v *Visit) From() address.Scope { return address.Scope(v.from.Load()) }

// got is called when a connection was chosen and nothing is written yet. One that is not allowed is closed: the transport
// then takes another one, and dials when there is none, which Control refuses.
func (v *Visit) got(info httptrace.GotConnInfo) {
	a := addrOf(info.Conn)
	if v.policy.Check(a) != nil {
		info.Conn.Close()
		return
	}
	v.from.Store(uint32(address.Of(a)))
}

// addrOf is the address at the other end; none if it is not of IP.
func addrOf(c net.Conn) netip.Addr {
	if tcp, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr()
	}
	return netip.Addr{}
}

var errNoVisit = errors.New("fence: a connection without a visit")

// Control is for net.Dialer.ControlContext. The error is a *address.Error; the dialer then tries the next address of the host.
func Control(ctx context.Context, _, address string, _ syscall.RawConn) error {
	v, ok := ctx.Value(key{}).(*Visit)
	if !ok {
		return errNoVisit
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	return v.policy.Check(to.Addr())
}
