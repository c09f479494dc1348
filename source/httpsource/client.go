// Package httpsource has the bytes of a web server: a [source.Source] over HTTP/1.1 (RFC 9110, RFC 9112).
//
// It believes no answer that is not exactly the answer to its question, follows redirects by itself, so
// that each answer on the way can be read, and gives credentials only to the server that they are for. What
// servers name does not lead into the network that we are in, unless they are in it, too.
//
// It refuses to be a browser: no cookies are kept, nothing is decoded, no request is sent twice by its own
// decision, but for an answer of 412 to If-Match. Retries, limits and the choice of ranges are for the caller.
//
//	var c httpsource.Client
//	defer c.CloseIdle()
//	src := c.Source(u, httpsource.Options{Mirror: true, Referer: origin})
//	err := src.Fetch(ctx, byterange.Range{Start: 0, End: 1 << 20}, sink)
package httpsource

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"braid/address"
	"braid/internal/web"
	"braid/source"
)

// A Client makes requests and keeps the connections between them. The zero value works. It may be used by
// several goroutines, and must not be changed or copied after its first use.
type Client struct {
	// UserAgent is sent with each request. If empty, it is "braid".
	UserAgent string
	// ConnectTimeout limits the time to connect, and that of the TLS handshake. If zero, it is 10 s.
	ConnectTimeout time.Duration
	// HeaderTimeout limits the time from request to header section, for each answer of a chain of
	// redirects. If zero, it is 30 s.
	HeaderTimeout time.Duration
	// IdlePerHost is how many connections to one host may wait for another request. If zero, it is 4: enough for
	// one file. A program that downloads several at a time wants as many as these.
	IdlePerHost int
	// AllowDowngrade lets any redirect lead from https to http.
	AllowDowngrade bool
	// NoReferer sends no Referer to mirrors.
	NoReferer bool
	// TLS is the configuration for https. If nil, it is that of crypto/tls. Its certificates are shown only
	// to the servers that the user named, not to mirrors.
	TLS *tls.Config
	// TLSFor has the configurations for servers that TLS is not for: of a "host:port", or of a "host" with any port, in lower
	// case. What comes from one whose certificate is not checked (InsecureSkipVerify) counts like what comes over http.
	TLSFor map[string]*tls.Config
	// Proxy chooses the proxy for a URL. If nil, the environment does. What a proxy connects to is out of
	// sight: of requests to it, only addresses in URLs are checked.
	Proxy func(*url.URL) (*url.URL, error)
	// Cookies has those that are sent to the servers that the user named, as far as they are for them. It is told none.
	Cookies http.CookieJar
	// Outlet is how connections leave this machine.
	Outlet source.Outlet
	// AllowHosts are connected to whoever names them, as by c.AllowHosts.Add("10.1.0.0/16").
	AllowHosts address.Hosts
	// HostRate is how many requests a second the host of a URL gets, redirects included. If nil, or not above zero,
	// there is no limit.
	HostRate func(*url.URL) float64
	// Pace keeps the pace of hosts together with others. If nil, this Client does for itself.
	Pace Pacer
	// Resolver looks names up. If nil, it is that of package net.
	Resolver *net.Resolver
	// Dial connects in place of the client's own dialer. It is for tests: the addresses that it connects to are not checked.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Wrap puts something around the client's own connections, to count requests, say, to log, trace or sign them: it
	// gets what makes the requests and returns what is asked instead. It is called when the client is first used, once
	// for each kind of connections: those that show a certificate of TLS or TLSFor, and others. What it returns may be
	// used by several goroutines, passes the context of requests on, follows no redirects and decodes nothing.
	Wrap func(own http.RoundTripper) http.RoundTripper
	// Transport makes the requests in place of the client's own connections, as Wrap does not: a recording in a test,
	// say, or the one that all of a program goes through. What it connects to, how long it waits for a connection or a
	// header section and which proxy it uses is then its own matter, and not that of the fields above (of the address
	// scope remains what addresses in URLs say); servers that send more than they announce are not seen through. Bodies
	// must come as they are sent, and redirects as answers.
	Transport http.RoundTripper

	once  sync.Once
	web   web.Client
	hosts hosts
	// unused are turns of requests that were given up before their turn.
	unused turns
}

// client is what makes the requests.
func (c *Client) client() *web.Client {
	c.once.Do(func() {
		w := &c.web
		w.UserAgent, w.ConnectTimeout, w.HeaderTimeout, w.IdlePerHost = c.UserAgent, c.ConnectTimeout, c.HeaderTimeout, c.IdlePerHost
		w.ReadBuffer = 32 << 10 // a small file comes with its head
		w.TLS, w.TLSFor, w.Proxy, w.Outlet, w.AllowHosts = c.TLS, c.TLSFor, c.Proxy, c.Outlet.Apply, c.AllowHosts
		w.Resolver, w.Dial, w.Wrap, w.Transport = c.Resolver, c.Dial, c.Wrap, c.Transport
	})
	return &c.web
}

// CloseIdle closes the connections that wait for another request.
func (c *Client) CloseIdle() { c.client().CloseIdle() }
