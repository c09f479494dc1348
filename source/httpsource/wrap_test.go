package httpsource

import (
	"crypto/tls"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"braid/address"
	"braid/internal/test/mirrortest"
	"braid/internal/test/sourcetest"
	"braid/source"
)

// A tally is a RoundTripper that counts requests.
type tally struct {
	own http.RoundTripper
	n   *atomic.Int64
}

func (c tally) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.own.RoundTrip(r)
}

// counting makes c count its requests and the calls of Wrap, one for each kind of connections.
func counting(c *Client) (requests, kinds *atomic.Int64) {
	requests, kinds = new(atomic.Int64), new(atomic.Int64)
	c.Wrap = func(own http.RoundTripper) http.RoundTripper {
		kinds.Add(1)
		return tally{own, requests}
	}
	return requests, kinds
}

// TestWrap checks that the checks of the client still apply under Wrap: a response with two framings, which net/http
// accepts, and a name from a server that leads to an address in another scope (rule 63).
func TestWrap(t *testing.T) {
	s := mirrortest.New(t, file)
	c := newClient(t)
	requests, kinds := counting(c)
	k := mustFetch(t, c, s.URL, Options{}, part(0, 10))
	if k.Heard.RTT <= 0 {
		t.Error("the round trip was not measured")
	}
	local := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	_, err := fetch(t, c, local, Options{Mirror: true, Named: address.Public}, part(0, 10))
	wantNear(t, err, s, 1)
	s.Reset(mirrortest.RawString("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: " +
		"chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"))
	_, err = fetch(t, c, s.URL, Options{}, whole)
	sourcetest.Fault(t, err, source.FaultProtocol, false)
	if requests.Load() < 3 || kinds.Load() != 1 {
		t.Errorf("%d requests passed, over %d kinds of connections", requests.Load(), kinds.Load())
	}
}

// TestWrapWithCertificate_Rule27 checks that Wrap is called once for connections with the client certificate and once
// for those without it (rule 27).
func TestWrapWithCertificate_Rule27(t *testing.T) {
	s := mirrortest.New(t, file)
	c := newClient(t)
	c.TLS = &tls.Config{Certificates: []tls.Certificate{{}}}
	requests, kinds := counting(c)
	mustFetch(t, c, s.URL, Options{}, part(0, 10))
	mustFetch(t, c, s.URL, Options{Mirror: true}, part(0, 10))
	if requests.Load() != 2 || kinds.Load() != 2 {
		t.Errorf("%d requests passed, over %d kinds of connections", requests.Load(), kinds.Load())
	}
}
