package ftpsource

import (
	"net/url"
	"strings"
	"testing"

	"braid/address"
	"braid/internal/test/ftptest"
	"braid/internal/test/proxytest"
	"braid/internal/test/sourcetest"
	"braid/source"
)

func via(proxy *url.URL) func(*url.URL) (*url.URL, error) {
	return func(*url.URL) (*url.URL, error) { return proxy, nil }
}

// TestProxy_Rule58 checks that control and data connections go through the proxy to the host in the URL, whatever
// address the server returns (rule 58).
func TestProxy_Rule58(t *testing.T) {
	for _, scheme := range []string{"http", "socks5", "socks5h"} {
		s := ftptest.New(t, file, ftptest.PassiveHost("10,9,8,7"))
		proxy := proxytest.New(t, url.UserPassword("me", "s3cret"))
		c := newClient(t)
		c.Proxy = via(proxy.URL(scheme))
		where := strings.Replace(s.URL, "127.0.0.1", "files.example", 1)
		for range 2 {
			k := mustFetch(t, c, where, Options{Named: address.Public}, part(5, 100_000))
			k.Has(file, part(5, 100_000))
		}
		asked := proxy.Asked()
		if len(asked) < 3 {
			t.Errorf("%s: asked for %q", scheme, asked)
		}
		for _, target := range asked {
			if !strings.HasPrefix(target, "files.example:") {
				t.Errorf("%s: asked for %s", scheme, target)
			}
		}
		c.CloseIdle()
		wrong := proxy.URL(scheme)
		wrong.User = url.UserPassword("me", "no")
		c.Proxy = via(wrong)
		_, err := fetch(t, c, where, Options{}, whole)
		sourcetest.Fault(t, err, source.FaultAuth, false)
	}
}

// TestProxyRefuses_Rule63 checks that a URL from a server cannot lead to a private address through a proxy, as far as
// the client can tell (rule 63), and that the client does not connect directly if the proxy does not work.
func TestProxyRefuses_Rule63(t *testing.T) {
	s := ftptest.New(t, file)
	proxy := proxytest.New(t, nil)
	c := newClient(t)
	c.Proxy = via(proxy.URL("socks5"))
	_, err := fetch(t, c, s.URL, Options{Named: address.Public}, whole)
	sourcetest.Fault(t, err, source.FaultRefused, false)
	if asked := proxy.Asked(); len(asked) != 0 {
		t.Errorf("asked for %q", asked)
	}
	c.Proxy = via(&url.URL{Scheme: "https", Host: proxy.Addr})
	if _, err = fetch(t, c, s.URL, Options{}, whole); err == nil {
		t.Error("FTP through a proxy over TLS, which is not spoken")
	}
	c.Proxy = via(&url.URL{Scheme: "http", Host: s.Addr}) // an FTP server, not a proxy
	_, err = fetch(t, c, s.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultProtocol, false)
}
