package httpsource

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"braid/source"
)

// A tunnelError is a proxy that does not connect us to a server.
type tunnelError struct{ status int }

func (e *tunnelError) Error() string {
	return fmt.Sprintf("proxy: status %d %s", e.status, http.StatusText(e.status))
}

// tunnelled judges what a proxy says to CONNECT. Of one that says no, net/http would keep the words only.
func tunnelled(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode != http.StatusOK {
		return &tunnelError{resp.StatusCode}
	}
	return nil
}

// fault says whose fault it is: a gateway may find the server later.
func (e *tunnelError) fault() (fault source.Fault, retry bool) {
	switch {
	case e.status == http.StatusProxyAuthRequired:
		return source.FaultAuth, false
	case e.status >= 500:
		return source.FaultNetwork, e.status != http.StatusNotImplemented
	}
	return source.FaultRefused, false
}

// plainly leaves out of an error of the transport what tells its user nothing.
func plainly(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "proxyconnect" {
		return &proxyError{source.Plain(op.Err)}
	}
	return source.Plain(err)
}

// A proxyError is what is wrong on the way to a proxy.
type proxyError struct{ err error }

func (e *proxyError) Error() string {
	return "proxy: " + strings.TrimPrefix(e.err.Error(), "dial tcp ")
}
func (e *proxyError) Unwrap() error { return e.err }

// classify says whose fault an error of the transport is, and whether another try makes sense.
func classify(err error) (fault source.Fault, retry bool) {
	var tunnel *tunnelError
	switch {
	case errors.As(err, &tunnel):
		return tunnel.fault()
	case errors.Is(err, errManyInformational), errors.Is(err, errManyFields), errors.Is(err, errHeadTooLong):
		return source.FaultLimit, false
	case errors.Is(err, errTwoFramings):
		return source.FaultProtocol, false
	case strings.Contains(err.Error(), "server closed idle connection"): // an error that net/http does not export
		return source.FaultNetwork, true
	}
	return source.NetworkFault(err)
}
