package httpsource

import (
	"errors"
	"net"
	"net/url"
	"strings"
	"testing"

	"braid/address"
	"braid/internal/test/mirrortest"
	"braid/internal/test/sourcetest"
	"braid/source"
)

// at is the URL of a server with another host in it.
func at(t *testing.T, s *mirrortest.Server, host string) string {
	t.Helper()
	u := sourcetest.URL(t, s.URL)
	u.Host = net.JoinHostPort(host, u.Port())
	return u.String()
}

// wantNear checks that a request was refused for where it leads, before a connection was made.
func wantNear(t *testing.T, err error, to *mirrortest.Server, connections int) {
	t.Helper()
	e := sourcetest.Fault(t, err, source.FaultRefused, false)
	if _, ok := errors.AsType[*address.Error](e); !ok {
		t.Errorf("error is %v", err)
	}
	if got := to.Connections(); got != connections {
		t.Errorf("%d connections, want %d", got, connections)
	}
}

// What a server named does not lead closer to us than that server is; what the user typed leads anywhere.
func TestNamed_Rule63(t *testing.T) {
	s := mirrortest.New(t, file)
	c := newClient(t)
	for _, named := range []address.Scope{address.Public, address.Public | address.Private} {
		_, err := fetch(t, c, s.URL, Options{Mirror: true, Named: named}, part(0, 10))
		wantNear(t, err, s, 0)
		if want := s.Addr + ": leads to 127.0.0.1, a loopback address, and was named from elsewhere"; err.Error() != want {
			t.Errorf("it says %q, want %q", err, want)
		}
	}
	mustFetch(t, c, s.URL, Options{Named: address.Public | address.Loopback}, part(0, 10))
	k := mustFetch(t, c, s.URL, Options{Mirror: true}, part(0, 10))
	if from := k.Heard.Hops[0].From; from != address.Loopback {
		t.Errorf("the answer is from %v", from)
	}
	before := s.Connections()
	_, err := fetch(t, c, s.URL, Options{Named: address.Public}, part(0, 10)) // a connection is waiting
	wantNear(t, err, s, before)
	if n := len(s.Requests()); n != 2 {
		t.Errorf("%d requests came", n)
	}
}

// 0.0.0.0 leads to this machine on most systems, but it is not where the server is that redirects there.
func TestRedirectNear_Rule63(t *testing.T) {
	cellar := mirrortest.New(t, file)
	origin := mirrortest.New(t, file)
	c := newClient(t)
	for _, host := range []string{"0.0.0.0", "::ffff:0.0.0.0"} {
		origin.Reset(mirrortest.Redirect(at(t, cellar, host)))
		_, err := fetch(t, c, origin.URL, Options{}, part(0, 10))
		wantNear(t, err, cellar, 0)
	}
	for _, u := range []string{
		"http://10.0.0.5/", "http://169.254.169.254/latest/", "https://[fe80::1%25lo]/", "http://192.168.1.1:8080/", "http://100.64.0.1/",
		"http://[fd00::1]/", "http://[::ffff:10.0.0.5]/", "http://[2002:a00:5::]/", "http://[64:ff9b::10.0.0.5]/", "http://224.0.0.1/", "http://255.255.255.255/",
	} {
		origin.Reset(mirrortest.Redirect(u))
		_, err := fetch(t, c, origin.URL, Options{}, part(0, 10))
		wantNear(t, err, cellar, 0)
	}
	origin.Reset(mirrortest.Redirect(at(t, cellar, "::ffff:127.0.0.1"))) // this machine again
	mustFetch(t, c, origin.URL, Options{}, part(0, 10))
}

// The user may allow a host.
func TestAllowHosts_Rule63(t *testing.T) {
	s := mirrortest.New(t, file)
	dns := &names{lists: map[string][][]string{"lab.example": {{"127.0.0.1"}}}}
	for _, host := range []string{"127.0.0.0/8", "lab.example"} {
		c := newClient(t)
		c.Resolver = dns.resolver(t)
		if err := c.AllowHosts.Add(host); err != nil {
			t.Fatal(err)
		}
		mustFetch(t, c, at(t, s, "lab.example"), Options{Named: address.Public}, part(0, 10))
	}
	c := newClient(t)
	c.AllowHosts.Add("lab.example") // the name, and not what has its address
	_, err := fetch(t, c, s.URL, Options{Named: address.Public}, part(0, 10))
	sourcetest.Fault(t, err, source.FaultRefused, false)
}

// It is the address that counts, and not the name.
func TestNamesNear_Rule63(t *testing.T) {
	cellar, origin := mirrortest.New(t, file), mirrortest.New(t, file)
	dns := &names{lists: map[string][][]string{
		"cellar.example": {{"0.0.0.0"}},
		"both.example":   {{"0.0.0.0", "127.0.0.1"}},
	}}
	c := newClient(t)
	c.Resolver = dns.resolver(t)
	origin.Reset(mirrortest.Redirect(at(t, cellar, "cellar.example")))
	_, err := fetch(t, c, origin.URL, Options{}, part(0, 10))
	wantNear(t, err, cellar, 0)
	if want := "cellar.example:" + sourcetest.URL(t, cellar.URL).Port() + ": leads to 0.0.0.0, an address of this host"; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("it says %q, want %q", err, want)
	}
	origin.Reset(mirrortest.Redirect(at(t, cellar, "both.example"))) // the address that is allowed serves
	k := mustFetch(t, c, origin.URL, Options{}, part(0, 10))
	if hops := k.Heard.Hops; len(hops) != 2 || hops[1].From != address.Loopback {
		t.Errorf("hops are %+v", hops)
	}
}

// A name that the user typed means something else a moment later: whoever owns it sends us where they like.
func TestRebinding_Rule63(t *testing.T) {
	cellar, origin := mirrortest.New(t, file), mirrortest.New(t, file)
	dns := &names{lists: map[string][][]string{"rebind.example": {{"127.0.0.1"}, {"0.0.0.0"}}}}
	c := newClient(t)
	c.Resolver = dns.resolver(t)
	origin.Reset(mirrortest.Redirect(at(t, cellar, "rebind.example")))
	_, err := fetch(t, c, at(t, origin, "rebind.example"), Options{}, part(0, 10))
	wantNear(t, err, cellar, 0)
	if n := len(origin.Requests()); n != 1 {
		t.Errorf("%d requests at the origin", n)
	}
}

// The proxy is the user's, wherever it is. What it connects to nobody here sees, but for addresses in URLs.
func TestProxyNear_Rule63(t *testing.T) {
	proxy := mirrortest.New(t, file)
	via := sourcetest.URL(t, proxy.URL)
	c := newClient(t)
	chosen := 0
	c.Proxy = func(*url.URL) (*url.URL, error) {
		if chosen++; chosen%2 == 0 { // another one each time: what was checked is what is used
			return nil, nil
		}
		return via, nil
	}
	path := via.Path
	k := mustFetch(t, c, "http://anywhere.invalid"+path, Options{Named: address.Public}, part(0, 10))
	if from := k.Heard.Hops[0].From; from != address.Public {
		t.Errorf("who is behind a proxy is %v", from)
	}
	chosen = 0
	k = mustFetch(t, c, "http://10.0.0.5"+path, Options{}, part(0, 10))
	if from := k.Heard.Hops[0].From; from != address.Private {
		t.Errorf("10.0.0.5 is %v", from)
	}
	chosen = 0
	_, err := fetch(t, c, "http://10.0.0.5"+path, Options{Named: address.Public}, part(0, 10))
	sourcetest.Fault(t, err, source.FaultRefused, false)
	for _, host := range []string{ // what only the proxy would look up, it would find near itself
		"2130706433", "0x7f.1", "017700000001", "127.1", "[::ffff:7f00:1]", "127.0.0.1.", "localhost.", "x.localhost", "nas.local", "1.2.3.4.5",
	} {
		chosen = 0
		_, err := fetch(t, c, "http://"+host+path, Options{Named: address.Public}, part(0, 10))
		sourcetest.Fault(t, err, source.FaultRefused, false)
	}
	if n := len(proxy.Requests()); n != 2 {
		t.Errorf("%d requests at the proxy", n)
	}
	chosen = 0
	k = mustFetch(t, c, "http://2130706433"+path, Options{}, part(0, 10)) // which the user may ask
	if from := k.Heard.Hops[0].From; from != address.Loopback {
		t.Errorf("2130706433 is %v", from)
	}
}
