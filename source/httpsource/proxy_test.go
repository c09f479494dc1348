package httpsource

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"braid/internal/test/mirrortest"
	"braid/internal/test/proxytest"
	"braid/internal/test/sourcetest"
	"braid/source"
)

// TestProxyKinds checks proxies of each kind with authentication, and a host name that only the proxy can look up.
func TestProxyKinds(t *testing.T) {
	plain := mirrortest.New(t, file)
	secure := mirrortest.New(t, file, mirrortest.TLS(nil))
	for _, scheme := range []string{"http", "socks5", "socks5h"} {
		proxy := proxytest.New(t, url.UserPassword("me", "s3cret"))
		c := newClient(t, secure)
		c.Proxy = via(proxy.URL(scheme))
		for _, s := range []*mirrortest.Server{plain, secure} {
			k := mustFetch(t, c, s.URL, Options{}, part(10, 100_000))
			k.Has(file, part(10, 100_000))
		}
		k := mustFetch(t, c, strings.Replace(plain.URL, "127.0.0.1", "inside.example", 1), Options{}, part(10, 20))
		k.Has(file, part(10, 20))
		asked := proxy.Asked()
		if last := asked[len(asked)-1]; !strings.HasPrefix(last, "inside.example:") {
			t.Errorf("%s: asked for %q", scheme, asked)
		}
		for _, s := range []*mirrortest.Server{plain, secure} {
			for _, r := range s.Requests() {
				if r.Header.Get("Proxy-Authorization") != "" {
					t.Errorf("%s: the server was told who we are at the proxy", scheme)
				}
			}
		}
		c = newClient(t, secure)
		wrong := proxy.URL(scheme)
		wrong.User = url.UserPassword("me", "no")
		c.Proxy = via(wrong)
		for _, s := range []*mirrortest.Server{plain, secure} {
			_, err := fetch(t, c, s.URL, Options{}, whole)
			sourcetest.Fault(t, err, source.FaultAuth, false)
			if e, _ := errors.AsType[*source.Error](err); e == nil ||
				e.Status != http.StatusProxyAuthRequired && scheme != "http" {
				t.Errorf("%s: %v", scheme, err)
			}
		}
	}
}

// TestProxyGone checks that the failure of a proxy may be retried and that the error names the proxy.
func TestProxyGone(t *testing.T) {
	proxy := proxytest.New(t, nil)
	const nobody = "127.0.0.1:1" // the system assigns no such port
	for _, via1 := range []*url.URL{{Scheme: "socks5", Host: nobody}, {Scheme: "http", Host: nobody}, proxy.URL("socks5")} {
		c := newClient(t)
		c.Proxy = via(via1)
		_, err := fetch(t, c, "http://"+nobody+"/a", Options{}, whole)
		sourcetest.Fault(t, err, source.FaultNetwork, true)
		if !strings.Contains(err.Error(), "proxy: ") {
			t.Errorf("%v: %v", via1, err)
		}
	}
}

// TestProxyOverTLS_Rule27 checks that the certificate of a proxy is verified even if that of the server need not be,
// and that the proxy does not get the client certificate (rules 27 and 29).
func TestProxyOverTLS_Rule27(t *testing.T) {
	shown := 0
	forward := &httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {},
		Transport: &http.Transport{DisableKeepAlives: true}}
	proxy := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown += len(r.TLS.PeerCertificates)
		forward.ServeHTTP(w, r)
	}))
	config, certificate := mirrortest.Certify(t, nil)
	proxy.TLS = config.Clone()
	proxy.TLS.ClientAuth = tls.RequestClientCert
	proxy.StartTLS()
	defer proxy.Close()
	s := mirrortest.New(t, file)
	c := &Client{TLS: &tls.Config{RootCAs: pool(t, certificate), Certificates: config.Certificates},
		Proxy: via(sourcetest.URL(t, proxy.URL))}
	t.Cleanup(c.CloseIdle)
	mustFetch(t, c, s.URL, Options{}, part(0, 10))
	if shown != 0 {
		t.Error("the proxy was shown our certificate")
	}
	strict := &Client{Proxy: via(sourcetest.URL(t, proxy.URL)),
		TLSFor: map[string]*tls.Config{s.Addr: {InsecureSkipVerify: true}}}
	t.Cleanup(strict.CloseIdle)
	_, err := fetch(t, strict, s.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultTLS, false)
}

// pool returns a pool with one certificate.
func pool(t *testing.T, certificate []byte) *x509.CertPool {
	t.Helper()
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM(certificate) {
		t.Fatal("not a certificate")
	}
	return p
}
