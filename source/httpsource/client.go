// Package httpsource fetches files from a web server. It implements [source.Source] over HTTP/1.1 (RFC 9110, RFC 9112).
//
// It accepts a response only if it exactly answers the request. It follows redirects itself, so that each response can
// be examined. It sends credentials only to the server that they are for. A URL named by a server must not lead into a
// private network, unless that server is in it.
//
// It is not a browser: it keeps no cookies, decodes no content, and repeats no request, except after a 412 to If-Match.
// The caller handles retries and limits, and chooses the ranges.
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

// A Client sends requests and reuses connections. The zero value is ready to use. It may be used concurrently, and must
// not be changed or copied after its first use.
type Client struct {
	// UserAgent is sent with each request. If empty, it is "braid".
	UserAgent string
	// ConnectTimeout limits the time to connect, and the time of the TLS handshake. If zero, it is 10 s.
	ConnectTimeout time.Duration
	// HeaderTimeout limits the time from a request to the header of its response, for each request in a chain of
	// redirects. If zero, it is 30 s.
	HeaderTimeout time.Duration
	// IdlePerHost is the number of idle connections per host. If zero, it is 4, which is enough for one file. A program
	// that downloads several files at a time needs more.
	IdlePerHost int
	// AllowDowngrade allows all redirects from https to http.
	AllowDowngrade bool
	// NoReferer suppresses the Referer field to mirrors.
	NoReferer bool
	// TLS is the configuration for https. If nil, the defaults of crypto/tls are used. Client certificates are shown
	// only to servers that the user named, not to mirrors.
	TLS *tls.Config
	// TLSFor has configurations for single servers: the key is "host:port", or "host" for any port, in lower case.
	// Responses from a server whose certificate is not checked (InsecureSkipVerify) are trusted like responses over http.
	TLSFor map[string]*tls.Config
	// Proxy returns the proxy for a URL. If nil, the environment is used. The address that a proxy connects to is
	// unknown, so for proxied requests only literal addresses in URLs are checked.
	Proxy func(*url.URL) (*url.URL, error)
	// Cookies has the cookies for servers that the user named. Received cookies are not stored in Cookies.
	Cookies http.CookieJar
	// Outlet selects how connections leave this machine.
	Outlet source.Outlet
	// AllowHosts are hosts to which connections are always allowed, as by c.AllowHosts.Add("10.1.0.0/16").
	AllowHosts address.Hosts
	// HostRate returns the maximum number of requests per second for the host of a URL, including redirects. If nil, or
	// if it returns 0, there is no limit.
	HostRate func(*url.URL) float64
	// Pace shares the pace of hosts with other Clients. If nil, the Client has a Pacer of its own.
	Pace Pacer
	// Resolver resolves names. If nil, the resolver of package net is used.
	Resolver *net.Resolver
	// Dial replaces the client's dialer in tests. The addresses that it connects to are not checked.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Wrap wraps the client's transport, for example to count, log, trace or sign requests. It is called at the first
	// use of the client, once for connections with a client certificate of TLS or TLSFor, and once for other
	// connections. The returned RoundTripper may be used concurrently. The RoundTripper must pass on the context of
	// requests, and must not follow redirects or decode bodies.
	Wrap func(own http.RoundTripper) http.RoundTripper
	// Transport replaces the client's transport, for example by a recording in a test or by a transport that the whole
	// program uses. Transport applies its own addresses, timeouts and proxy instead of the fields above. Literal
	// addresses in URLs are still checked. A response with more bytes than announced is not detected. Transport must
	// not decode bodies or follow redirects.
	Transport http.RoundTripper

	once  sync.Once
	web   web.Client
	hosts hosts
	// unused holds turns of requests that were canceled before their turn.
	unused turns
}

// client returns the web.Client that sends the requests.
func (c *Client) client() *web.Client {
	c.once.Do(func() {
		w := &c.web
		w.UserAgent, w.ConnectTimeout, w.HeaderTimeout, w.IdlePerHost = c.UserAgent, c.ConnectTimeout,
			c.HeaderTimeout, c.IdlePerHost
		w.ReadBuffer = 32 << 10 // so that a small file is read together with its header
		w.TLS, w.TLSFor, w.Proxy, w.Outlet, w.AllowHosts = c.TLS, c.TLSFor, c.Proxy, c.Outlet.Apply, c.AllowHosts
		w.Resolver, w.Dial, w.Wrap, w.Transport = c.Resolver, c.Dial, c.Wrap, c.Transport
	})
	return &c.web
}

// Proven reports whether responses from u are known to come from its server: the scheme is https and the certificate is
// verified.
func (c *Client) Proven(u *url.URL) bool { return c.client().Proven(u) }

// CloseIdle closes the idle connections.
func (c *Client) CloseIdle() { c.client().CloseIdle() }
