// Package httpsource has the bytes of a web server: a [source.Source] over HTTP/1.1 (RFC 9110, RFC 9112).
//
// It believes no answer that is not exactly the answer to its question, follows redirects by itself, so
// that each answer on the way can be read, and gives credentials to nobody but the server they are for. What
// servers name does not lead into the network that we are in, unless they are in it, too (rule 63).
//
// It refuses to be a browser: no cookies are kept, nothing is decoded, no request is sent twice by its own
// decision but for the one of rule 35. Retries, limits and the choice of ranges are for the caller.
//
//	var c httpsource.Client
//	defer c.CloseIdle()
//	src := c.Source(u, httpsource.Options{Mirror: true, Referer: origin})
//	err := src.Fetch(ctx, byterange.Range{Start: 0, End: 1 << 20}, sink)
package httpsource

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"braid/internal/fence"
	"braid/internal/reach"
	"braid/source"
)

const (
	defaultUserAgent      = "braid"
	defaultConnectTimeout = 10 * time.Second
	defaultHeaderTimeout  = 30 * time.Second // rule 21

	// defaultIdlePerHost is for one file: there is one request at a time at a mirror (C7) unless the user wants more.
	defaultIdlePerHost = 4
	idleTime           = 60 * time.Second
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
	// one file. Who downloads several at a time wants as many as these.
	IdlePerHost int
	// AllowDowngrade lets any redirect lead from https to http (rule 26).
	AllowDowngrade bool
	// NoReferer sends no Referer to mirrors (rule 28).
	NoReferer bool
	// TLS is the configuration for https. If nil, it is that of crypto/tls. Its certificates are shown only
	// to the servers that the user named, not to mirrors (rule 27).
	TLS *tls.Config
	// Proxy chooses the proxy for a request. If nil, the environment does. What a proxy connects to is out of sight: of
	// requests to it, only addresses in URLs are checked (rule 63).
	Proxy func(*http.Request) (*url.URL, error)
	// AllowHosts are connected to whoever names them (rule 63).
	AllowHosts reach.Hosts
	// Resolver looks names up. If nil, it is that of package net.
	Resolver *net.Resolver
	// Dial connects in place of the client's own dialer. It is for tests: to what addresses it connects nobody checks.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Transport makes the requests in place of the client's own connections. It is for tests; most of what
	// protects from servers that cannot count is not in it.
	Transport http.RoundTripper

	once sync.Once
	// anonymous and known differ in who is told our TLS certificate. They are one if there is none.
	anonymous, known *http.Transport
}

// CloseIdle closes the connections that wait for another request.
func (c *Client) CloseIdle() {
	c.init()
	c.anonymous.CloseIdleConnections()
	c.known.CloseIdleConnections()
}

func (c *Client) init() {
	c.once.Do(func() {
		config := c.TLS.Clone()
		if config == nil {
			config = &tls.Config{}
		}
		config.NextProtos = []string{"http/1.1"}
		if config.ClientSessionCache == nil {
			config.ClientSessionCache = tls.NewLRUClientSessionCache(0)
		}
		c.known = c.newTransport(config)
		c.anonymous = c.known
		if len(config.Certificates) > 0 || config.GetClientCertificate != nil {
			config = config.Clone()
			config.Certificates, config.GetClientCertificate = nil, nil
			config.ClientSessionCache = tls.NewLRUClientSessionCache(0) // a session would be recognized
			c.anonymous = c.newTransport(config)
		}
	})
}

// newTransport makes a transport without the habits of net/http that are wrong here: HTTP/2, which would
// put all ranges of a host on one connection; gzip; and 10 MiB of header.
func (c *Client) newTransport(config *tls.Config) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  c.proxy,
		OnProxyConnectResponse: tunnelled,
		DialContext:            c.dialPlain,
		DialTLSContext:         c.dialTLS(config),
		TLSClientConfig:        config, // through a proxy
		TLSHandshakeTimeout:    c.connectTimeout(),
		Protocols:              protocols,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    cmp.Or(c.IdlePerHost, defaultIdlePerHost),
		IdleConnTimeout:        idleTime,
		ResponseHeaderTimeout:  cmp.Or(c.HeaderTimeout, defaultHeaderTimeout),
		MaxResponseHeaderBytes: maxHead + 8<<10, // a little more than the guard, which can say what is wrong
	}
}

// transport is what a request goes through. The servers that the user named may know us.
func (c *Client) transport(named bool) http.RoundTripper {
	if c.Transport != nil {
		return c.Transport
	}
	c.init()
	if named {
		return c.known
	}
	return c.anonymous
}

// proxy is the proxy for a request. For one that is on its way it was chosen before.
func (c *Client) proxy(req *http.Request) (*url.URL, error) {
	if p, ok := req.Context().Value(wayKey{}).(*url.URL); ok {
		return p, nil
	}
	if c.Proxy != nil {
		return c.Proxy(req)
	}
	return http.ProxyFromEnvironment(req)
}

func (c *Client) connectTimeout() time.Duration {
	return cmp.Or(c.ConnectTimeout, defaultConnectTimeout)
}

func (c *Client) dialPlain(ctx context.Context, network, addr string) (net.Conn, error) {
	g, err := c.dial(ctx, network, addr)
	if err != nil {
		return nil, err // not a nil guard in an interface
	}
	return g, nil
}

// dial connects. There is a guard on the connection, which is a socket.
func (c *Client) dial(ctx context.Context, network, addr string) (*guard, error) {
	dialer := net.Dialer{Timeout: c.connectTimeout(), Resolver: c.Resolver, ControlContext: fence.Control}
	connect := dialer.DialContext
	if c.Dial != nil {
		connect = c.Dial
	}
	conn, err := connect(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	g := newGuard(conn)
	if tcp, ok := conn.(*net.TCPConn); ok {
		if g.socket, err = newSocket(tcp); err != nil {
			conn.Close()
			return nil, err
		}
		g.Conn = g.socket
	}
	return g, nil
}

// dialTLS connects to a server, or to a proxy that speaks TLS. There is a guard on this side of TLS, which sees
// what the server says, and one below, which knows how the connection ends.
func (c *Client) dialTLS(config *tls.Config) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		raw, err := c.dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		config := config
		if config.ServerName == "" {
			host, _, err := net.SplitHostPort(addr)
			if err != nil {
				raw.Close()
				return nil, err
			}
			config = config.Clone()
			config.ServerName = host
		}
		ctx, cancel := context.WithTimeout(ctx, c.connectTimeout())
		defer cancel()
		conn := tls.Client(raw, config)
		if err := conn.HandshakeContext(ctx); err != nil {
			raw.Close()
			return nil, &source.HandshakeError{Err: err}
		}
		g := newGuard(conn)
		g.socket, raw.socket = raw.socket, nil // who knows where bodies end is above TLS
		return g, nil
	}
}
