package httpsource

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"braid/internal/web"
	"braid/source"
)

func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		err   error
		fault source.Fault
		retry bool
	}{
		{io.EOF, source.FaultNetwork, true},
		{fmt.Errorf("broken: %w", io.ErrUnexpectedEOF), source.FaultNetwork, true},
		{net.ErrClosed, source.FaultNetwork, true},
		{os.ErrDeadlineExceeded, source.FaultNetwork, true},
		{context.DeadlineExceeded, source.FaultNetwork, true},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, source.FaultNetwork, true},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, source.FaultNetwork, true},
		{syscall.EHOSTUNREACH, source.FaultNetwork, true},
		{&net.DNSError{Err: "no such host", Name: "x.invalid", IsNotFound: true}, source.FaultNetwork, false},
		{&net.DNSError{Err: "server misbehaving", Name: "x", IsTemporary: true}, source.FaultNetwork, true},
		// The server closed the connection before the request was sent. The error of net/http has no type.
		{errors.New("http: server closed idle connection"), source.FaultNetwork, true},
		{&web.HandshakeError{Err: io.EOF}, source.FaultTLS, true},
		{&web.HandshakeError{Err: context.DeadlineExceeded}, source.FaultNetwork, true},
		{&web.HandshakeError{Err: &net.OpError{Op: "remote error", Err: errors.New("tls: handshake failure")}},
			source.FaultTLS, false},
		{&web.HandshakeError{Err: errors.New("tls: no supported versions")}, source.FaultTLS, false},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, source.FaultTLS, false},
		{tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, source.FaultTLS, false},
		{fmt.Errorf("x: %w (%w)", io.ErrUnexpectedEOF, &web.AnswerError{Limit: true}), source.FaultLimit, false},
		{&web.AnswerError{Limit: true}, source.FaultLimit, false},
		{&web.AnswerError{}, source.FaultProtocol, false},
		{errors.New("malformed HTTP response"), source.FaultProtocol, false},
		{&web.TunnelError{Status: 407}, source.FaultAuth, false},
		{&web.TunnelError{Status: 403}, source.FaultRefused, false},
		{&web.TunnelError{Status: 502}, source.FaultNetwork, true},
		{&web.TunnelError{Status: 501}, source.FaultNetwork, false},
	} {
		if fault, retry := classify(tt.err); fault != tt.fault || retry != tt.retry {
			t.Errorf("%v: %v, %v; want %v, %v", tt.err, fault, retry, tt.fault, tt.retry)
		}
	}
}

// TestPlainly checks that the text of an error says what went wrong without internal addresses, and that classify still
// recognizes it.
func TestPlainly(t *testing.T) {
	dns := &net.DNSError{Err: "no such host", Name: "x.invalid", Server: "192.0.2.1:53", IsNotFound: true}
	refused := os.NewSyscallError("connect", syscall.ECONNREFUSED)
	addr := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 2), Port: 80}
	for want, err := range map[string]error{
		"x.invalid: no such host": &net.OpError{Op: "dial", Net: "tcp", Err: dns},
		"proxy: x.invalid: no such host": &net.OpError{Op: "proxyconnect", Net: "tcp",
			Err: &net.OpError{Op: "dial", Net: "tcp", Err: dns}},
		"proxy: 192.0.2.2:80: connect: connection refused": &net.OpError{Op: "proxyconnect", Net: "tcp",
			Err: &net.OpError{Op: "dial", Net: "tcp", Addr: addr, Err: refused}},
		"dial tcp 192.0.2.2:80: connect: connection refused": &net.OpError{Op: "dial", Net: "tcp", Addr: addr,
			Err: refused},
		"proxy: status 407 Proxy Authentication Required": &web.TunnelError{Status: 407},
		"header section: unexpected EOF (malformed HTTP status code)": fmt.Errorf("header section: %w (%w)",
			io.ErrUnexpectedEOF, errors.New("malformed HTTP status code")),
	} {
		if got := source.Plain(err).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		fault, retry := classify(err)
		if f, r := classify(source.Plain(err)); f != fault || r != retry {
			t.Errorf("%s: %v, %v; want %v, %v", want, f, r, fault, retry)
		}
	}
}
