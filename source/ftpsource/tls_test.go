package ftpsource

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"
	"time"

	"braid/internal/test/ftptest"
	"braid/internal/test/mirrortest"
	"braid/internal/test/sourcetest"
	"braid/source"
)

func TestTLS(t *testing.T) {
	for name, version := range map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13} {
		t.Run(name, func(t *testing.T) {
			config, pem := mirrortest.Certify(t, nil)
			config.MaxVersion = version
			s := newServer(t, ftptest.TLS(config))
			c := trusting(t, pem)
			mustFetch(t, c, s.URL, Options{}, whole)
			mustFetch(t, c, s.URL, Options{}, part(5, 9000))
			mustFetch(t, c, s.URL, Options{}, part(9000, 20_000))
			if s.Connections() != 1 || s.Commands()[0] != "AUTH TLS" || s.Asked("PROT P") != 1 {
				t.Errorf("%d connections, commands %q", s.Connections(), s.Commands())
			}
			if s.Resumed() != 3 {
				t.Errorf("%d data connections resumed the session of the control connection, want all 3", s.Resumed())
			}
		})
	}
}

// TestUntrusted_Rule29 checks that a server without a valid certificate gets neither user nor password (rule 29).
func TestUntrusted_Rule29(t *testing.T) {
	good, pem := mirrortest.Certify(t, nil)
	expired, expiredPEM := mirrortest.Certify(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
	other, otherPEM := mirrortest.Certify(t, func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 9)} })
	for name, tt := range map[string]struct {
		option ftptest.Option
		client *Client
	}{
		"unknown authority": {ftptest.TLS(good), newClient(t)},
		"expired":           {ftptest.TLS(expired), trusting(t, expiredPEM)},
		"other name":        {ftptest.TLS(other), trusting(t, otherPEM)},
		"no TLS":            {ftptest.Reply("AUTH", "502 unknown\r\n"), trusting(t, pem)},
		"plain after all":   {ftptest.Reply("AUTH", "234 begin\r\n"), trusting(t, pem)},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, tt.option)
			if name == "plain after all" { // the server is silent
				tt.client.ConnectTimeout = time.Second
			}
			_, err := fetch(t, tt.client, "ftps://bob:secret@"+s.Addr+"/file.bin", Options{}, whole)
			if e := wantTLS(t, err); e != nil && name != "plain after all" && e.Retry {
				t.Errorf("%v: another try makes no sense", e)
			}
			if s.Asked("USER")+s.Asked("PASS") != 0 {
				t.Errorf("commands are %q", s.Commands())
			}
		})
	}
}

// wantTLS checks that err is an error of TLS. If there was no handshake at all, it is one of the network.
func wantTLS(t *testing.T, err error) *source.Error {
	t.Helper()
	e, ok := err.(*source.Error)
	if !ok || e.Fault != source.FaultTLS && e.Fault != source.FaultNetwork {
		t.Errorf("error is %v", err)
	}
	return e
}

// TestInjectedBeforeTLS checks that replies received before the TLS handshake are ignored after it, because an attacker
// in the network may have sent them.
func TestInjectedBeforeTLS(t *testing.T) {
	config, pem := mirrortest.Certify(t, nil)
	s := newServer(t, ftptest.TLS(config), ftptest.Reply("AUTH", "234 begin\r\n230 welcome\r\n"))
	_, err := fetch(t, trusting(t, pem), s.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultProtocol, false)
}

// TestUnprotectedData checks that a server that refuses to protect the data connection is not used (RFC 4217, section
// 9).
func TestUnprotectedData(t *testing.T) {
	config, pem := mirrortest.Certify(t, nil)
	for _, command := range []string{"PBSZ", "PROT"} {
		s := newServer(t, ftptest.TLS(config), ftptest.Reply(command, "536 no\r\n"))
		_, err := fetch(t, trusting(t, pem), s.URL, Options{}, whole)
		sourcetest.Fault(t, err, source.FaultTLS, false)
		if s.Asked("RETR") != 0 {
			t.Errorf("commands are %q", s.Commands())
		}
	}
}

// TestTruncatedTLS_Rule29 checks that a transfer of unknown size is complete only if TLS ends with close_notify (rule
// 29).
func TestTruncatedTLS_Rule29(t *testing.T) {
	config, pem := mirrortest.Certify(t, nil)
	s := newServer(t, ftptest.TLS(config), ftptest.Reply("SIZE", "502 unknown\r\n"))
	c := trusting(t, pem)
	mustFetch(t, c, s.URL, Options{}, whole)
	s.Set(ftptest.NoCloseNotify())
	_, err := fetch(t, c, s.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultNetwork, true)
}

// TestClientCertificate_Rule27 checks that the client certificate is sent only to servers that the user named (rule
// 27).
func TestClientCertificate_Rule27(t *testing.T) {
	config, pem := mirrortest.Certify(t, nil)
	config.ClientAuth = tls.RequireAnyClientCert
	ours, _ := mirrortest.Certify(t, nil)
	s := newServer(t, ftptest.TLS(config))
	c := trusting(t, pem)
	c.TLS.Certificates = ours.Certificates
	mustFetch(t, c, s.URL, Options{}, part(0, 9))
	if _, err := fetch(t, c, s.URL, Options{Mirror: true}, part(0, 9)); err == nil {
		t.Error("a mirror saw our certificate")
	}
}
