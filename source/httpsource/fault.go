package httpsource

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"braid/source"
)

// A handshakeError says that TLS could not begin.
type handshakeError struct{ err error }

func (e *handshakeError) Error() string { return "TLS: " + e.err.Error() }
func (e *handshakeError) Unwrap() error { return e.err }

// classify says whose fault an error of the transport is, and whether another try makes sense.
func classify(err error) (fault source.Fault, retry bool) {
	var handshake *handshakeError
	var dns *net.DNSError
	switch {
	case errors.Is(err, errManyInformational), errors.Is(err, errManyFields), errors.Is(err, errHeadTooLong):
		return source.FaultLimit, false
	case errors.Is(err, errTwoFramings):
		return source.FaultProtocol, false
	case timedOut(err):
		return source.FaultNetwork, true
	case untrusted(err):
		return source.FaultTLS, false
	case errors.As(err, &handshake):
		// A connection that breaks may be better next time; a server that says no will say it again.
		return source.FaultTLS, cutOff(err)
	case errors.As(err, &dns):
		return source.FaultNetwork, !dns.IsNotFound
	case cutOff(err):
		return source.FaultNetwork, true
	}
	return source.FaultProtocol, false
}

func timedOut(err error) bool {
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
	case strings.Contains(err.Error(), "server closed idle connection"): // an error that net/http does not export
		return true
	}
	// TLS wraps the alerts of the other side as network errors.
	return errors.As(err, &network) && !strings.Contains(err.Error(), "remote error: tls:")
}
