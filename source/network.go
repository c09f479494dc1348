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

// NetworkFault classifies err, an error of the network or of TLS, and reports whether another attempt makes sense. The
// fault of an unknown error is FaultProtocol.
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
	case errors.As(err, &outlet): // a fault of this machine
		return FaultNetwork, false
	case errors.As(err, &tunnel):
		return tunnelFault(tunnel.Status)
	case IsTimeout(err):
		return FaultNetwork, true
	case untrusted(err):
		return FaultTLS, false
	case errors.As(err, &handshake):
		// A broken connection may work the next time. A server that refuses will refuse again.
		return FaultTLS, cutOff(err)
	case errors.As(err, &dns):
		return FaultNetwork, !dns.IsNotFound
	case cutOff(err):
		return FaultNetwork, true
	}
	return FaultProtocol, false
}

// IsTimeout reports whether err is a timeout.
func IsTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout() || errors.Is(err, context.DeadlineExceeded)
}

// untrusted reports whether err means that the server could not prove its identity or does not use TLS (rule 29).
func untrusted(err error) bool {
	var plain tls.RecordHeaderError
	var unverified *tls.CertificateVerificationError
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	var authority x509.UnknownAuthorityError
	return errors.As(err, &plain) || errors.As(err, &unverified) || errors.As(err, &invalid) ||
		errors.As(err, &name) || errors.As(err, &authority)
}

// cutOff reports whether err means that the network failed, and not the peer.
func cutOff(err error) bool {
	var network net.Error
	var errno syscall.Errno
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return true
	case errors.As(err, &errno):
		return true
	}
	// Package tls wraps the peer's alerts in network errors.
	return errors.As(err, &network) && !strings.Contains(err.Error(), "remote error: tls:")
}

// Plain removes details from err that do not help the user, such as the address of the name server.
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

// A networkError is a network error with a text that lacks the addresses added by package net.
type networkError struct {
	text string
	err  error
}

func (e *networkError) Error() string { return e.text }
func (e *networkError) Unwrap() error { return e.err }
