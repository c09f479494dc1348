package source

import (
	"errors"
	"net"
	"net/http"
	"strings"
)

// tunnelFault classifies the status with which a proxy refuses a tunnel. A gateway error may be temporary.
func tunnelFault(status int) (fault Fault, retry bool) {
	switch {
	case status == http.StatusProxyAuthRequired, status == http.StatusUnauthorized: // from tinyproxy for a wrong password
		return FaultAuth, false
	case status >= 500:
		return FaultNetwork, status != http.StatusNotImplemented
	}
	return FaultRefused, false
}

// A ProxyError is an error of the connection to a proxy, or of the proxy's response.
type ProxyError struct{ Err error }

func (e *ProxyError) Error() string {
	return "proxy: " + strings.TrimPrefix(e.Err.Error(), "dial tcp ")
}

// Unwrap returns the cause.
func (e *ProxyError) Unwrap() error { return e.Err }

// viaProxy returns the error in err that a proxy caused: the proxy could not be reached, or refused a SOCKS request.
func viaProxy(err error) (*net.OpError, bool) {
	var op *net.OpError
	ok := errors.As(err, &op) && (op.Op == "proxyconnect" || strings.HasPrefix(op.Op, "socks "))
	return op, ok
}

// socksFault classifies err, the refusal of a SOCKS proxy, by its text, because the libraries have no error values for it.
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
