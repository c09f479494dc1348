//go:build linux

package torture

import (
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"braid/internal/test/mirrortest"
)

// to is a server that redirects.
func to(location string) func(*world) { return alone(mirrortest.Redirect(location)) }

// redirects are ways to elsewhere (rules 26 and 27).
func redirects() []torment {
	all := []torment{
		{"26", "redirects to itself", func(w *world) {
			s := w.ask(w.serve())
			s.Set(mirrortest.Redirect(s.URL))
		}, fails(8, "loop")},
		{"26", "redirects to another that redirects back", func(w *world) {
			a, b := w.ask(w.serve()), w.serve()
			a.Set(mirrortest.Redirect(b.URL))
			b.Set(mirrortest.Redirect(a.URL))
		}, fails(8, "loop")},
		{"26", "redirects without end, to a new place each time", func(w *world) {
			w.ask(w.serve(wander(1 << 30)))
		}, fails(8, "more than 10 redirects")},
		{"26", "redirects eleven times", func(w *world) { w.ask(w.serve(wander(11))) }, fails(8, "more than 10 redirects")},
		{"26", "redirects ten times", func(w *world) { w.ask(w.serve(wander(10))) }, isUnverified},
		{"26", "redirects without a Location", alone(mirrortest.Status(302)), fails(8, "Location")},
		{"26", "redirects to an empty Location",
			spoken("HTTP/1.1 302 Found\r\nLocation: \r\nContent-Length: 0\r\n\r\n"), fails(8, "Location")},
		{"26", "redirects to two Locations", spoken("HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: " +
			"/b\r\nContent-Length: 0\r\n\r\n"), fails(8, "Location")},
		{"26", "redirects to a Location of 9 KiB", to("/" + strings.Repeat("a", 9<<10)), fails(8, "Location")},
		{"26", "redirects with a header field in the Location", to("/%0d%0aX-Evil:%201"), fails(8, "404")},
		{"26", "redirects, and the answer has a body without end",
			alone(flood("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/x\r\n\r\n", "x")), fails(4, "")},
		{"27", "redirects to another server, and there are credentials",
			elsewhere(func(w *world) { w.req.user = "me:" + secret }), isUnverified},
		{"27", "redirects to another server, and there is a cookie",
			elsewhere(func(w *world) { w.req.headers = []string{"Cookie: id=" + secret} }), isUnverified},
		{"27", "redirects to another server, and there is an Authorization field",
			elsewhere(func(w *world) { w.req.headers = []string{"Authorization: Bearer " + secret} }), isUnverified},
		{"28", "redirects to another server, and there is a secret in the query",
			elsewhere(func(w *world) { w.req.urls[0] += "?key=" + secret }), isUnverified},
		{"27", "redirects to another server, and there are credentials in the URL", elsewhere(func(w *world) {
			w.req.urls[0] = strings.Replace(w.req.urls[0], "http://", "http://me:"+secret+"@", 1)
		}), isUnverified},
		{"62", "refuses, and there is a secret in the URL", func(w *world) {
			w.confidant = w.serve(mirrortest.Status(404))
			w.req.urls = []string{strings.Replace(w.confidant.URL, "http://", "http://me:"+secret+"@", 1) + "?key=" + secret}
		}, fails(8, "404")},
		{"62", "cuts, and there is a secret in the URL", func(w *world) {
			w.confidant = w.serve(mirrortest.ETag(`"v"`), mirrortest.IgnoreRange(), mirrortest.CutAfter(9000))
			w.req.urls = []string{w.confidant.URL + "?key=" + secret}
			w.req.user = "me:" + secret
		}, fails(13, "")},
		{"62", "redirects to a loop with a secret in it", func(w *world) {
			s := w.ask(w.serve())
			w.confidant = s
			s.Set(mirrortest.Redirect("http://me:" + secret + "@" + s.Addr + "/file.bin?key=" + secret))
		}, fails(8, "loop|more than")},
		{"12", "redirects to a name with dots", func(w *world) {
			w.ask(w.serve(mirrortest.Choose(func(r *http.Request) []option {
				if r.URL.Path == "/"+fileName {
					return []option{mirrortest.Redirect("/%2e%2e%2f%2e%2e%2fevil")}
				}
				return []option{mirrortest.Handler(page(string(w.body)))}
			})))
			w.req.noName = true
		}, isUnverified},
	}
	for _, location := range []string{
		"file:///etc/passwd", "FILE:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1:70/x",
		"data:text/plain,hello", "javascript:alert(1)",
		"dict://127.0.0.1:11211/stats", "//", "http://", "http:///x", "http:x", "http://[::1",
		"http://127.0.0.1:99999999/", "http://127.0.0.1:0/",
		"http://%zz/", "magnet:?xt=urn:btih:0123456789abcdef0123456789abcdef01234567", "unix:/run/x.sock", "http+unix://x/",
	} {
		all = append(all, torment{"26", "redirects to " + location, to(location), want{refused, []int{4, 8}, ""}})
	}
	return all
}

// wander redirects n times, each time to a new place, and then has the file.
func wander(n int) option {
	return mirrortest.Choose(func(r *http.Request) []option {
		var at int
		fmt.Sscanf(r.URL.RawQuery, "%d", &at) // none is 0
		if at < n {
			return []option{mirrortest.Redirect(fmt.Sprintf("/file.bin?%d", at+1))}
		}
		return nil
	})
}

// elsewhere is a server that redirects to another one, which must not learn a secret.
func elsewhere(edit func(*world)) func(*world) {
	return func(w *world) {
		target := w.serve(mirrortest.Name("other.bin"))
		w.confidant = w.ask(w.serve(mirrortest.Redirect(target.URL)))
		edit(w)
	}
}

// near are places within this machine, or within the network that it is in, to which servers send (rule 63).
func near() (all []torment) {
	for _, host := range []string{
		"169.254.169.254", "10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "224.0.0.1", "255.255.255.255",
		"0.0.0.0", "[::]",
		"[fe80::1]", "[fc00::1]", "[::ffff:10.0.0.1]", "[64:ff9b::a00:1]", "[2002:a00:1::]", "0", "0x0a.1", "169.254.1",
	} {
		all = append(all,
			torment{"63", "redirects to " + host, func(w *world) {
				w.ask(w.serve(mirrortest.Redirect("http://" + host + ":9/file.bin")))
				w.req.alone = true
			}, want{refused, []int{4, 8}, ""}},
			torment{"63", "names a mirror at " + host, func(w *world) {
				w.ask(w.serve(mirrortest.Rate(slow), mirrortest.Digest(), mirrortest.Mirrors("http://"+host+":9/file.bin")))
				w.req.alone = true
			}, isRight})
	}
	// What listens at 127.0.0.1 answers at 0.0.0.0, too, which is of another class.
	there := func(s *mirrortest.Server) string { return strings.Replace(s.URL, "127.0.0.1", "0.0.0.0", 1) }
	return append(all,
		torment{"63", "redirects to a neighbour at 0.0.0.0",
			func(w *world) { w.ask(w.serve(mirrortest.Redirect(there(w.canary())))) }, fails(8, "address of this host")},
		torment{"63", "names a mirror at 0.0.0.0 where a neighbour is", func(w *world) {
			w.ask(w.serve(mirrortest.Rate(slow), mirrortest.Digest(), mirrortest.Mirrors(there(w.canary()))))
		}, isRight},
		torment{"63", "names a signature at 0.0.0.0 where a neighbour is", func(w *world) {
			w.ask(w.serve(mirrortest.Digest(),
				mirrortest.Link("<"+there(w.canary())+">; rel=describedby; type=\"application/pgp-signature\"")))
			w.req.alone = true
		}, isRight},
		torment{"63", "names a document at 0.0.0.0 where a neighbour is", func(w *world) {
			w.ask(w.serve(mirrortest.Digest(),
				mirrortest.Link("<"+there(w.canary())+">; rel=describedby; type=\"application/metalink4+xml\"")))
		}, isRight},
	)
}

// tlsCases are servers that cannot prove who they are, or that somebody cuts off (rule 29).
func tlsCases() []torment {
	secure := func(edit func(*x509.Certificate), trusted bool, options ...option) func(*world) {
		return func(w *world) {
			s := w.ask(w.serve(append(options, mirrortest.TLS(edit))...))
			if trusted {
				w.trust(s)
			}
		}
	}
	talk := func(f func(net.Conn)) func(*world) {
		return func(w *world) { w.req.urls = []string{"https://" + w.listen(f) + "/file.bin"} }
	}
	return []torment{
		{"29", "has a certificate of nobody's", secure(nil, false), fails(5, "authority")},
		{"29", "has a certificate that is over",
			secure(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }, true), fails(5, "expired")},
		{"29", "has a certificate of tomorrow",
			secure(func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Hour) }, true), fails(5, "not yet valid")},
		{"29", "has a certificate for another name",
			secure(func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"example.org"} }, true),
			fails(5, "certificate")},
		{"29", "has a certificate that may not be a server's",
			secure(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }, true),
			fails(5, "")},
		{"29", "is in order, with TLS", secure(nil, true), isUnverified},
		{"29", "cuts TLS without close_notify, where nothing says how long the file is",
			secure(nil, true, mirrortest.UntilClose(), mirrortest.NoCloseNotify()), want{refused, []int{5, 13}, "close_notify"}},
		{"29", "cuts TLS within the body", secure(nil, true, mirrortest.NoCloseNotify(), mirrortest.IgnoreRange(),
			mirrortest.CutAfter(9000)), fails(4, "")},
		{"29", "speaks no TLS", talk(func(c net.Conn) { io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }),
			fails(5, "does not")},
		{"29", "says nothing in place of a handshake", talk(func(c net.Conn) { io.Copy(io.Discard, c) }),
			want{refused, []int{4, 5}, ""}},
		{"29", "sends TLS records without end",
			talk(func(c net.Conn) { pour(c, "\x16\x03\x03\x40\x00"+strings.Repeat("x", 0x4000)) }),
			want{refused, []int{4, 5}, ""}},
		{"29", "sends a TLS alert", talk(func(c net.Conn) { io.WriteString(c, "\x15\x03\x03\x00\x02\x02\x28") }), fails(5, "")},
		{"26", "redirects from https to http", func(w *world) {
			s := w.ask(w.serve(mirrortest.TLS(nil), mirrortest.Redirect(w.canary().URL)))
			w.trust(s)
		}, fails(8, "https to http")},
		{"27", "redirects to the same host by http, and there are credentials", func(w *world) {
			plain := w.serve()
			s := w.ask(w.serve(mirrortest.TLS(nil), mirrortest.Digest(), mirrortest.Redirect(plain.URL)))
			w.trust(s)
			w.confidant, w.req.user = s, "me:"+secret
		}, isRight},
		{"29", "names a mirror whose certificate is nobody's", func(w *world) {
			bad := w.serve(mirrortest.TLS(nil))
			s := w.ask(w.serve(mirrortest.TLS(nil), mirrortest.Rate(slow), mirrortest.Digest(), mirrortest.Mirrors(bad.URL)))
			w.trust(s)
		}, isRight},
	}
}
