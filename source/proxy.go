package source

import (
	"errors"
	"net"
	"net/http"
	"strings"
)

// tunnelFault says whose fault it is that a proxy makes no tunnel: a gateway may find the server later.
func tunnelFault(status int) (fault Fault, retry bool) {
	switch {
	case status == http.StatusProxyAuthRequired, status == http.StatusUnauthorized: // tinyproxy's word for a wrong password
		return FaultAuth, false
	case status >= 500:
		return FaultNetwork, status != http.StatusNotImplemented
	}
	return FaultRefused, false
}

// A ProxyError is what is wrong on the way to a proxy.
type ProxyError struct{ Err error }

func (e *ProxyError) Error() string {
	return "proxy: " + strings.TrimPrefix(e.Err.Error(), "dial tcp ")
}

// Unwrap returns what went wrong.
func (e *ProxyError) Unwrap() error { return e.Err }

// viaProxy finds what a proxy is the cause of: that it cannot be reached, or what it says in SOCKS.
func viaProxy(err error) (*net.OpError, bool) {
	var op *net.OpError
	ok := errors.As(err, &op) && (op.Op == "proxyconnect" || strings.HasPrefix(op.Op, "socks "))
	return op, ok
}

// socksFault says what it means that a proxy of SOCKS does not connect us. The libraries have words for it only.
func socksFault(err error) (fault Fault, ok bool) {
	op, ok := viaProxy(err)
	if !ok || op.Op == "proxyconnect" {
		return 0, false
	}
	switch why := op.Err.Error(); {
	case strings.Contains(why, "authentication"):
		return FaultAuth, true
	case strings.Contains(why, "not allowed by ruleset"):
		return FaultRefused, true
	}
	return 0, false
}
