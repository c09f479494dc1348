package jetstream

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Refused reports whether err, an error of Open, means that the server requires credentials or rejected those it got.
func Refused(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err,
		nats.ErrPermissionViolation) ||
		err != nil && (strings.Contains(strings.ToLower(err.Error()), "authorization violation") ||
			strings.Contains(err.Error(), "signing nonce"))
}

// Untrusted reports whether err, an error of Open, is about the server's certificate, or means that the server has no TLS.
func Untrusted(err error) bool {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var wrong *tls.CertificateVerificationError
	var alert tls.AlertError
	return errors.As(err, &unknown) || errors.As(err, &name) || errors.As(err, &invalid) || errors.As(err, &wrong) ||
		errors.As(err, &alert) ||
		errors.Is(err, nats.ErrSecureConnWanted) || errors.Is(err, nats.ErrSecureConnRequired)
}

// Newer reports whether err is about values in the queue that a newer version of braid has stored.
func Newer(err error) bool {
	_, newer := errors.AsType[*NewerError](err)
	return newer
}

// Lacking reports whether err, an error of Open, means that JetStream is off at the server.
func Lacking(err error) bool {
	return errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount)
}
