package source

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"braid/address"
	"braid/internal/web"
)

// NetworkFault says whose fault an error of the network or of TLS is, and whether another try makes sense. What it
// does not know is the protocol's.
func NetworkFault(err error) (fault Fault, retry bool) {
	var handshake *web.HandshakeError
	var dns *net.DNSError
	var near *address.Error
	var tunnel *web.TunnelError
	var outlet *OutletError
	if fault, ok := socksFault(err); ok {
		return fault, false
	}
	switch {
	case errors.As(err, &near): // rule 63
		return FaultRefused, false
	case errors.As(err, &outlet): // it is ours
		return FaultNetwork, false
	case errors.As(err, &tunnel):
		return tunnelFault(tunnel.Status)
	case IsTimeout(err):
		return FaultNetwork, true
	case untrusted(err):
		return FaultTLS, false
	case errors.As(err, &handshake):
		// A connection that breaks may be better next time; a server that says no will say it again.
		return FaultTLS, cutOff(err)
	case errors.As(err, &dns):
		return FaultNetwork, !dns.IsNotFound
	case cutOff(err):
		return FaultNetwork, true
	}
	return FaultProtocol, false
}

// IsTimeout reports whether err says that something did not come in time.
func IsTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout() || errors.Is(err, context.DeadlineExceeded)
}

// untrusted says that the server did not prove who it is, or does not speak TLS at all (rule 29).
func untrusted(err error) bool {
	var plain tls.RecordHeaderError
	var unverified *tls.CertificateVerificationError
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	var authority x509.UnknownAuthorityError
	return errors.As(err, &plain) || errors.As(err, &unverified) || errors.As(err, &invalid) ||
		errors.As(err, &name) || errors.As(err, &authority)
}

// cutOff says that the network, and not what came over it, is what failed.
func cutOff(err error) bool {
	var network net.Error
	var errno syscall.Errno
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return true
	case errors.As(err, &errno):
		return true
	}
	// TLS wraps the alerts of the other side as network errors.
	return errors.As(err, &network) && !strings.Contains(err.Error(), "remote error: tls:")
}

// Plain leaves out of an error of the network what tells its user nothing: which of our name servers was asked, say.
func Plain(err error) error {
	var dns *net.DNSError
	var near *address.Error
	if op, ok := viaProxy(err); ok {
		return &ProxyError{Plain(op.Err)}
	}
	switch {
	case errors.As(err, &near):
		return near
	case errors.As(err, &dns):
		return &networkError{dns.Name + ": " + dns.Err, err}
	}
	return err
}

// A networkError says what is wrong with the network without the addresses that package net adds.
type networkError struct {
	text string
	err  error
}

func (e *networkError) Error() string { return e.text }
func (e *networkError) Unwrap() error { return e.err }
