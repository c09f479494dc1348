package web

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/netip"
	"sync/atomic"
	"testing"

	"braid/address"
)

// place is a server on loopback that counts connections and requests, and a transport that checks addresses.
type place struct {
	*httptest.Server
	requests, connections atomic.Int32
	transport             *http.Transport
}

func newPlace(t *testing.T) *place {
	p := &place{}
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.requests.Add(1)
		io.WriteString(w, "hello")
	}))
	p.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			p.connections.Add(1)
		}
	}
	p.Start()
	t.Cleanup(p.Close)
	dialer := net.Dialer{ControlContext: control}
	p.transport = &http.Transport{DialContext: dialer.DialContext}
	t.Cleanup(p.transport.CloseIdleConnections)
	return p
}

// visit makes a request and returns the scope of the answer.
func (p *place) visit(t *testing.T, url string, s address.Scope) (address.Scope, error) {
	t.Helper()
	v := &route{policy: address.Policy{Scope: s}}
	req, err := http.NewRequestWithContext(v.context(t.Context(), &httptrace.ClientTrace{}), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := p.transport.RoundTrip(req)
	if err != nil {
		return address.Scope(v.from.Load()), err
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	return address.Scope(v.from.Load()), nil
}

func (p *place) refuses(t *testing.T, url string, s address.Scope) {
	t.Helper()
	from, err := p.visit(t, url, s)
	var e *address.Error
	if !errors.As(err, &e) || from != 0 {
		t.Errorf("%s for %v: %v, from %v", url, s, err, from)
	}
}

func TestFence_Rule63(t *testing.T) {
	p := newPlace(t)
	p.refuses(t, p.URL, address.Public|address.Private)
	p.refuses(t, p.URL, 0)
	if n := p.connections.Load(); n != 0 {
		t.Fatalf("%d connections: it was connected before it was checked", n)
	}
	for _, s := range []address.Scope{address.Loopback, address.Anywhere, address.Loopback, address.Anywhere} {
		if from, err := p.visit(t, p.URL, s); err != nil || from != address.Loopback {
			t.Errorf("%v: %v, from %v", s, err, from)
		}
	}
	if n := p.connections.Load(); n == p.requests.Load() { // net/http sometimes closes one on a busy machine
		t.Errorf("%d connections: what is allowed is not used again", n)
	}
}

// An idle connection is not reused for a request that may not use it.
func TestPooled_Rule63(t *testing.T) {
	p := newPlace(t)
	for range 3 {
		if _, err := p.visit(t, p.URL, address.Anywhere); err != nil {
			t.Fatal(err)
		}
		p.refuses(t, p.URL, address.Public)
	}
	if n := p.requests.Load(); n != 3 {
		t.Errorf("%d requests came, of 3 that may", n)
	}
}

// A connection without a route is a programming error, and is refused.
func TestControlWithoutRoute(t *testing.T) {
	if err := control(context.Background(), "tcp4", "1.1.1.1:80", nil); err == nil {
		t.Error("allowed")
	}
	ctx := (&route{policy: address.Policy{Scope: address.Public}}).context(t.Context(), &httptrace.ClientTrace{})
	for to, want := range map[string]bool{"1.1.1.1:80": true, "[2606:4700::1]:80": true, "10.0.0.1:80": false,
		"[fe80::1%lo]:80": false, "nonsense": false} {
		if got := control(ctx, "tcp", to, nil) == nil; got != want {
			t.Errorf("%s: %v", to, got)
		}
	}
}

func TestAddrOfOther(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if got := addrOf(a); got != (netip.Addr{}) {
		t.Errorf("a pipe has the address %v", got)
	}
}
