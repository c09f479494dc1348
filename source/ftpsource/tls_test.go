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

// Rule 29: who cannot prove who it is gets neither name nor password.
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
			if name == "plain after all" { // which is silent
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

// wantTLS wants a fault of TLS; silence in place of a handshake is one of the network.
func wantTLS(t *testing.T, err error) *source.Error {
	t.Helper()
	e, ok := err.(*source.Error)
	if !ok || e.Fault != source.FaultTLS && e.Fault != source.FaultNetwork {
		t.Errorf("error is %v", err)
	}
	return e
}

// What came before TLS began does not count after it: somebody on the way may have written it.
func TestInjectedBeforeTLS(t *testing.T) {
	config, pem := mirrortest.Certify(t, nil)
	s := newServer(t, ftptest.TLS(config), ftptest.Reply("AUTH", "234 begin\r\n230 welcome\r\n"))
	_, err := fetch(t, trusting(t, pem), s.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultProtocol, false)
}

// RFC 4217, section 9: a server that does not protect the data does not get to send any.
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

// Without a size only close_notify says that nobody cut the stream (rule 29).
func TestTruncatedTLS_Rule29(t *testing.T) {
	config, pem := mirrortest.Certify(t, nil)
	s := newServer(t, ftptest.TLS(config), ftptest.Reply("SIZE", "502 unknown\r\n"))
	c := trusting(t, pem)
	mustFetch(t, c, s.URL, Options{}, whole)
	s.Set(ftptest.NoCloseNotify())
	_, err := fetch(t, c, s.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultNetwork, true)
}

// Rule 27: our certificate is for servers that the user named.
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
