package httpsource

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
	"braid/internal/test/proxytest"
	"braid/internal/test/sourcetest"
	"braid/source"
	"braid/verify"
)

// trusting returns a configuration that trusts the certificates of these servers.
func trusting(servers ...*mirrortest.Server) *tls.Config {
	return &tls.Config{RootCAs: mirrortest.Pool(servers...)}
}

func TestTLS(t *testing.T) {
	s := mirrortest.New(t, file, mirrortest.TLS(nil), mirrortest.Digest())
	c := newClient(t, s)
	k := mustFetch(t, c, s.URL, Options{}, whole)
	k.Has(file, part(0, file.Size()))
	if k.Heard.Claims[0].Channel != verify.HTTPS || k.Heard.RTT <= 0 {
		t.Errorf("answer is %+v", k.Heard)
	}
	for range 3 {
		mustFetch(t, c, s.URL, Options{}, part(10, 20))
	}
	reuses(t, s)
	k = &sourcetest.Sink{T: t, Limit: 10}
	if err := c.Source(sourcetest.URL(t, s.URL), Options{}).Fetch(t.Context(), whole, k); err != nil {
		t.Fatal(err)
	}
	mustFetch(t, c, s.URL, Options{}, part(10, 20))
	if s.MaxConcurrent() != 1 {
		t.Errorf("%d requests at a time", s.MaxConcurrent())
	}
	// A response that follows a redirect over http is trusted no more than http (rule 64).
	first := mirrortest.New(t, file, mirrortest.Redirect(s.URL))
	if k = mustFetch(t, c, first.URL, Options{}, part(0, 10)); k.Heard.Claims[0].Channel != verify.HTTP {
		t.Errorf("claim is %v", k.Heard.Claims[0])
	}
}

// TestBadTLS_Rule29 checks that invalid certificates are refused (rule 29).
func TestBadTLS_Rule29(t *testing.T) {
	expired := func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }
	otherName := func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"other.example"} }
	for name, s := range map[string]*mirrortest.Server{
		"expired":    mirrortest.New(t, file, mirrortest.TLS(expired)),
		"wrong name": mirrortest.New(t, file, mirrortest.TLS(otherName)),
	} {
		_, err := fetch(t, newClient(t, s), s.URL, Options{}, whole)
		t.Log(name, err)
		sourcetest.Fault(t, err, source.FaultTLS, false)
	}
	unknown := mirrortest.New(t, file, mirrortest.TLS(nil))
	_, err := fetch(t, newClient(t), unknown.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultTLS, false)

	plain := mirrortest.New(t, file)
	_, err = fetch(t, newClient(t), "https://"+plain.Addr+"/file.bin", Options{}, whole)
	sourcetest.Fault(t, err, source.FaultTLS, false)
	if len(unknown.Requests()) != 0 || len(plain.Requests()) != 0 {
		t.Error("a request was sent to a server that nobody knows")
	}
}

// TestTruncatedTLS_Rule29 checks that a response without a length is complete only if TLS ends with close_notify (rule
// 29).
func TestTruncatedTLS_Rule29(t *testing.T) {
	s := mirrortest.New(t, file, mirrortest.TLS(nil), mirrortest.UntilClose())
	c := newClient(t, s)
	mustFetch(t, c, s.URL, Options{}, whole)
	s.Set(mirrortest.NoCloseNotify())
	k, err := fetch(t, c, s.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultTLS, true)
	k.Has(file, part(0, file.Size()))
	// A response with a length is complete without close_notify.
	mustFetch(t, c, s.URL, Options{}, part(0, 1000))
	s.Set(mirrortest.CutAfter(500))
	_, err = fetch(t, c, s.URL, Options{}, part(0, 1000))
	sourcetest.Fault(t, err, source.FaultNetwork, true)
}

// TestClientCertificateOnlyToOrigin_Rule27 checks that the client certificate is sent only to servers that the user
// named (rule 27).
func TestClientCertificateOnlyToOrigin_Rule27(t *testing.T) {
	shown := map[string]int{} // certificates by path; requests come one after the other
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown[r.URL.Path] = len(r.TLS.PeerCertificates)
		if r.URL.Path == "/named" {
			http.Redirect(w, r, "https://localhost:"+r.URL.Query().Get("port")+"/redirected", http.StatusFound)
			return
		}
		w.Write([]byte("x"))
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.StartTLS()
	defer s.Close()
	c := &Client{TLS: &tls.Config{Certificates: s.TLS.Certificates, InsecureSkipVerify: true}}
	t.Cleanup(c.CloseIdle)
	port := sourcetest.URL(t, s.URL).Port()
	mustFetch(t, c, s.URL+"/named?port="+port, Options{}, whole)
	mustFetch(t, c, s.URL+"/mirror", Options{Mirror: true}, whole)
	if shown["/named"] != 1 || shown["/redirected"] != 0 || shown["/mirror"] != 0 || len(shown) != 3 {
		t.Errorf("certificates shown: %v", shown)
	}
}

// TestProxy checks that requests to http and https servers work through a proxy.
func TestProxy(t *testing.T) {
	plain := mirrortest.New(t, file)
	secure := mirrortest.New(t, file, mirrortest.TLS(nil))
	proxy := proxytest.New(t, nil)
	c := newClient(t, secure)
	c.Proxy = via(proxy.URL("http"))
	for _, s := range []*mirrortest.Server{plain, secure} {
		for range 2 {
			k := mustFetch(t, c, s.URL, Options{}, part(10, 100_000))
			k.Has(file, part(10, 100_000))
			if k.Heard.Host != s.Addr {
				t.Errorf("host is %s", k.Heard.Host)
			}
		}
	}
	none := errors.New("no proxy today")
	c = newClient(t)
	c.Proxy = func(*url.URL) (*url.URL, error) { return nil, none }
	if _, err := fetch(t, c, plain.URL, Options{}, whole); !errors.Is(err, none) {
		t.Errorf("error is %v", err)
	}
}

// TestProxyRefuses checks that the status of a proxy that refuses a tunnel is not taken for that of the server.
func TestProxyRefuses(t *testing.T) {
	for status, want := range map[int]source.Error{
		407: {Fault: source.FaultAuth, Status: 407}, 401: {Fault: source.FaultAuth, Status: 407},
		403: {Fault: source.FaultRefused}, 502: {Fault: source.FaultNetwork, Retry: true},
	} {
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		c := newClient(t)
		c.Proxy = via(sourcetest.URL(t, proxy.URL))
		_, err := fetch(t, c, "https://origin.invalid/a", Options{}, whole)
		e, ok := errors.AsType[*source.Error](err)
		if !ok || e.Fault != want.Fault || e.Status != want.Status || e.Retry != want.Retry ||
			!strings.HasPrefix(e.Err.Error(), fmt.Sprintf("proxy: status %d ", status)) {
			t.Errorf("%d: %+v", status, err)
		}
		proxy.Close()
	}
}

// via returns a function that chooses proxy for every URL.
func via(proxy *url.URL) func(*url.URL) (*url.URL, error) {
	return func(*url.URL) (*url.URL, error) { return proxy, nil }
}
