package jetstream

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Refused reports whether Open failed because the server requires credentials or rejected them.
func Refused(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err,
		nats.ErrPermissionViolation) ||
		err != nil && (strings.Contains(strings.ToLower(err.Error()), "authorization violation") ||
			strings.Contains(err.Error(), "signing nonce"))
}

// Untrusted reports whether Open failed because of the server's certificate, or because the server has no TLS.
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

// Newer reports whether err is an error about queue values that a newer version of braid wrote.
func Newer(err error) bool {
	_, newer := errors.AsType[*NewerError](err)
	return newer
}

// Lacking reports whether Open failed because the server does not have JetStream.
func Lacking(err error) bool {
	return errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount)
}
