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

// at returns the URL of a server with another host.
func at(t *testing.T, s *mirrortest.Server, host string) string {
	t.Helper()
	u := sourcetest.URL(t, s.URL)
	u.Host = net.JoinHostPort(host, u.Port())
	return u.String()
}

// wantNear checks that a request was refused because of its address, before a connection was made.
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

// TestNamed_Rule63 checks that a URL from a server cannot lead to an address that is neither public nor in the server's
// scope, and that a URL of the user can lead anywhere.
func TestNamed_Rule63(t *testing.T) {
	s := mirrortest.New(t, file)
	c := newClient(t)
	for _, named := range []address.Scope{address.Public, address.Public | address.Private} {
		_, err := fetch(t, c, s.URL, Options{Mirror: true, Named: named}, part(0, 10))
		wantNear(t, err, s, 0)
		if want := s.Addr + ": leads to 127.0.0.1, a loopback address, and was named by a server elsewhere"; err.Error() != want {
			t.Errorf("it says %q, want %q", err, want)
		}
	}
	mustFetch(t, c, s.URL, Options{Named: address.Public | address.Loopback}, part(0, 10))
	k := mustFetch(t, c, s.URL, Options{Mirror: true}, part(0, 10))
	if from := k.Heard.Hops[0].From; from != address.Loopback {
		t.Errorf("the answer is from %v", from)
	}
	before := s.Connections()
	_, err := fetch(t, c, s.URL, Options{Named: address.Public}, part(0, 10)) // with an idle connection
	wantNear(t, err, s, before)
	if n := len(s.Requests()); n != 2 {
		t.Errorf("%d requests came", n)
	}
}

// TestRedirectNear_Rule63 checks redirects to addresses in another scope than the server's. 0.0.0.0 leads to this
// machine on most systems, but it is not in the scope of loopback addresses.
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
		"http://10.0.0.5/", "http://169.254.169.254/latest/", "https://[fe80::1%25lo]/", "http://192.168.1.1:8080/",
		"http://100.64.0.1/",
		"http://[fd00::1]/", "http://[::ffff:10.0.0.5]/", "http://[2002:a00:5::]/", "http://[64:ff9b::10.0.0.5]/",
		"http://224.0.0.1/", "http://255.255.255.255/",
	} {
		origin.Reset(mirrortest.Redirect(u))
		_, err := fetch(t, c, origin.URL, Options{}, part(0, 10))
		wantNear(t, err, cellar, 0)
	}
	origin.Reset(mirrortest.Redirect(at(t, cellar, "::ffff:127.0.0.1"))) // also a loopback address
	mustFetch(t, c, origin.URL, Options{}, part(0, 10))
}

// TestAllowHosts_Rule63 checks that hosts in AllowHosts may be near.
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
	c.AllowHosts.Add("lab.example") // allows the name, not its address
	_, err := fetch(t, c, s.URL, Options{Named: address.Public}, part(0, 10))
	sourcetest.Fault(t, err, source.FaultRefused, false)
}

// TestNamesNear_Rule63 checks that the addresses of a name are checked, not the name.
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
	if want := "cellar.example:" + sourcetest.URL(t, cellar.URL).Port() + ": leads to 0.0.0.0, an address of " +
		"this host"; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("it says %q, want %q", err, want)
	}
	origin.Reset(mirrortest.Redirect(at(t, cellar, "both.example"))) // the allowed address of the two is used
	k := mustFetch(t, c, origin.URL, Options{}, part(0, 10))
	if hops := k.Heard.Hops; len(hops) != 2 || hops[1].From != address.Loopback {
		t.Errorf("hops are %+v", hops)
	}
}

// TestRebinding_Rule63 checks a name whose owner changes its address after the first request: the second address is
// checked too.
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

// TestProxyNear_Rule63 checks that a proxy may have any address. The client cannot check the addresses that the proxy
// connects to, except those in URLs.
func TestProxyNear_Rule63(t *testing.T) {
	proxy := mirrortest.New(t, file)
	via := sourcetest.URL(t, proxy.URL)
	c := newClient(t)
	chosen := 0
	c.Proxy = func(*url.URL) (*url.URL, error) {
		if chosen++; chosen%2 == 0 { // the result that was checked must be used
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
	for _, host := range []string{ // the proxy would find these names in its own network
		"2130706433", "0x7f.1", "017700000001", "127.1", "[::ffff:7f00:1]", "127.0.0.1.", "localhost.", "x.localhost",
		"nas.local", "1.2.3.4.5",
	} {
		chosen = 0
		_, err := fetch(t, c, "http://"+host+path, Options{Named: address.Public}, part(0, 10))
		sourcetest.Fault(t, err, source.FaultRefused, false)
	}
	if n := len(proxy.Requests()); n != 2 {
		t.Errorf("%d requests at the proxy", n)
	}
	chosen = 0
	k = mustFetch(t, c, "http://2130706433"+path, Options{}, part(0, 10)) // the user may request this
	if from := k.Heard.Hops[0].From; from != address.Loopback {
		t.Errorf("2130706433 is %v", from)
	}
}
