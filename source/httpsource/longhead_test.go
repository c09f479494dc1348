package httpsource

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"braid/internal/test/mirrortest"
	"braid/internal/test/proxytest"
	"braid/internal/test/sourcetest"
	"braid/source"
)

// TestLongHead_Rule15_Rule17 checks that responses are checked after a request that is longer than the write buffer and
// is written in parts, whatever the parts begin with. The length of a Location decides where they are cut (rules 15 and
// 17).
func TestLongHead_Rule15_Rule17(t *testing.T) {
	both := "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
	plain := mirrortest.New(t, file, mirrortest.RawString(both))
	secure := mirrortest.New(t, file, mirrortest.TLS(nil), mirrortest.RawString(both))
	for name, s := range map[string]*mirrortest.Server{"plain": plain, "TLS": secure} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, s)
			for n := 3650; n < 4100; n++ { // the rest of the request has some 350 bytes
				_, err := fetch(t, c, s.URL+"?"+strings.Repeat("x", n), Options{}, whole)
				sourcetest.Fault(t, err, source.FaultProtocol, false)
				if t.Failed() {
					t.Fatalf("with a query of %d bytes", n)
				}
			}
		})
	}
	long := mirrortest.New(t, file, mirrortest.BodyLonger(1))
	for _, word := range []string{"CONNECT", "HEAD"} {
		t.Run(word, func(t *testing.T) {
			c := newClient(t)
			for n := 3650; n < 4100; n++ {
				o := Options{Header: map[string][]string{"X": {strings.Repeat("x", n) + word + " x"}}}
				_, err := fetch(t, c, long.URL, o, part(0, 5))
				sourcetest.Fault(t, err, source.FaultProtocol, false)
				if t.Failed() {
					t.Fatalf("with %d bytes before it", n)
				}
			}
		})
	}
}

// TestBehindProxy_Rule15_Rule17 checks that responses are checked behind a proxy too, after the handshake of SOCKS
// (rules 15 and 17).
func TestBehindProxy_Rule15_Rule17(t *testing.T) {
	for i, option := range []mirrortest.Option{
		mirrortest.BodyLonger(1),
		mirrortest.RawString("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
	} {
		s := mirrortest.New(t, file, option)
		proxy := proxytest.New(t, url.UserPassword("me", "s3cret"))
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			c := newClient(t)
			c.Proxy = via(proxy.URL("socks5"))
			_, err := fetch(t, c, s.URL, Options{}, whole)
			sourcetest.Fault(t, err, source.FaultProtocol, false)
		})
	}
}
