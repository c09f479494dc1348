package httpsource

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"braid/internal/reach"
	"braid/source"
)

// A handshakeError says that TLS could not begin.
type handshakeError struct{ err error }

func (e *handshakeError) Error() string { return "TLS: " + e.err.Error() }
func (e *handshakeError) Unwrap() error { return e.err }

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

// A networkError says what is wrong with the network without the words of package net for who asked whom.
type networkError struct {
	text string
	err  error
}

func (e *networkError) Error() string { return e.text }
func (e *networkError) Unwrap() error { return e.err }

// plainly leaves out of an error of the transport what tells its user nothing.
func plainly(err error) error {
	proxy := ""
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "proxyconnect" {
		proxy, err = "proxy: ", op.Err
	}
	text := err.Error()
	var dns *net.DNSError
	var near *reach.Error
	switch {
	case errors.As(err, &near):
		return near
	case errors.As(err, &dns):
		text = dns.Name + ": " + dns.Err
	case proxy != "":
		text = strings.TrimPrefix(text, "dial tcp ")
	default:
		return err
	}
	return &networkError{proxy + text, err}
}

// classify says whose fault an error of the transport is, and whether another try makes sense.
func classify(err error) (fault source.Fault, retry bool) {
	var handshake *handshakeError
	var tunnel *tunnelError
	var dns *net.DNSError
	var near *reach.Error
	switch {
	case errors.As(err, &tunnel):
		return tunnel.fault()
	case errors.As(err, &near): // rule 63
		return source.FaultRefused, false
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
