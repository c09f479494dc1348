package web

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"strings"

	"braid/address"
)

// transports are for one configuration of TLS. They differ in which servers get our certificate, and are one if there is none.
type transports struct{ anonymous, known wrapped }

// A wrapped is connections of our own, and what requests to them pass through: Client.Wrap's, if there is one.
type wrapped struct {
	own     *http.Transport
	outside http.RoundTripper
}

func (c *Client) newTransports(config *tls.Config) (t transports) {
	config = config.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	config.NextProtos = []string{"http/1.1"}
	if config.ClientSessionCache == nil {
		config.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	}
	t.known = c.wrap(c.newTransport(config))
	t.anonymous = t.known
	if len(config.Certificates) > 0 || config.GetClientCertificate != nil {
		t.anonymous = c.wrap(c.newTransport(anonymous(config)))
	}
	return t
}

func (c *Client) wrap(t *http.Transport) wrapped {
	if c.Wrap == nil {
		return wrapped{t, t}
	}
	return wrapped{t, c.Wrap(t)}
}

// anonymous is config for servers that do not get our certificate.
func anonymous(config *tls.Config) *tls.Config {
	config = config.Clone()
	config.Certificates, config.GetClientCertificate = nil, nil
	config.ClientSessionCache = tls.NewLRUClientSessionCache(0) // a session would be recognized
	return config
}

// newTransport makes a transport without the habits of net/http that are wrong here: HTTP/2, which would
// put all ranges of a host on one connection; gzip; and 10 MiB of header.
func (c *Client) newTransport(config *tls.Config) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  chosenProxy,
		OnProxyConnectResponse: tunnelled,
		DialContext:            c.dialPlain,
		DialTLSContext:         c.dialTLS(config),
		TLSClientConfig:        config, // through a proxy
		TLSHandshakeTimeout:    c.connectTimeout(),
		Protocols:              protocols,
		DisableCompression:     true,
		MaxIdleConns:           c.MaxIdle,
		MaxIdleConnsPerHost:    cmp.Or(c.IdlePerHost, defaultIdlePerHost),
		IdleConnTimeout:        cmp.Or(c.IdleTime, defaultIdleTime),
		ResponseHeaderTimeout:  cmp.Or(c.HeaderTimeout, defaultHeaderTimeout),
		ReadBufferSize:         c.ReadBuffer,
		MaxResponseHeaderBytes: maxHead + 8<<10, // a little more than the guard, which can say what is wrong
	}
}

// transport is what a request to u goes through. The servers that the user named may see our certificate.
func (c *Client) transport(u *url.URL, own bool) http.RoundTripper {
	if c.Transport != nil {
		return c.Transport
	}
	t := c.byTLS[c.tlsFor(address.HostPort(u))]
	if own {
		return t.known.outside
	}
	return t.anonymous.outside
}

// tlsFor is the configuration for a server.
func (c *Client) tlsFor(hostport string) *tls.Config {
	if config, ok := c.TLSFor[hostport]; ok {
		return config
	}
	host, _, _ := net.SplitHostPort(hostport)
	if config, ok := c.TLSFor[host]; ok {
		return config
	}
	return c.TLS
}

// Proven reports whether what comes from u comes from its server: it is asked over https, and its certificate is checked.
func (c *Client) Proven(u *url.URL) bool {
	if u.Scheme != "https" {
		return false
	}
	config := c.tlsFor(address.HostPort(u))
	return config == nil || !config.InsecureSkipVerify
}

func (c *Client) dialPlain(ctx context.Context, network, addr string) (net.Conn, error) {
	g, err := c.dial(ctx, network, addr)
	if err != nil {
		return nil, err // not a nil guard in an interface
	}
	return g, nil
}

// dial connects. There is a guard on the connection, which is a socket. A connection to a proxy is a tunnel at first.
func (c *Client) dial(ctx context.Context, network, addr string) (*guard, error) {
	dialer := net.Dialer{Timeout: c.connectTimeout(), Resolver: c.Resolver, ControlContext: control}
	if c.Outlet != nil {
		c.Outlet(&dialer)
	}
	connect := dialer.DialContext
	if c.Dial != nil {
		connect = c.Dial
	}
	conn, err := connect(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	g := newGuard(conn)
	if proxied(ctx) {
		g = newTunnel(conn)
	}
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
		raw.phase = through // no other goroutine has it yet
		config, err := c.handshakeConfig(ctx, config, addr)
		if err != nil {
			raw.Close()
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, c.connectTimeout())
		defer cancel()
		conn := tls.Client(raw, config)
		if err := conn.HandshakeContext(ctx); err != nil {
			raw.Close()
			return nil, &HandshakeError{Err: err}
		}
		g := newGuard(conn)
		if proxied(ctx) {
			g = newTunnel(conn)
		}
		g.socket, raw.socket = raw.socket, nil // the layer that knows where bodies end is above TLS
		return g, nil
	}
}

// handshakeConfig is the configuration for the server at addr. A proxy is no server: our certificate is none of its business,
// and how far the server is trusted says nothing of it (rule 27).
func (c *Client) handshakeConfig(ctx context.Context, config *tls.Config, addr string) (*tls.Config, error) {
	if proxied(ctx) {
		if config = c.tlsFor(strings.ToLower(addr)); config == nil {
			config = &tls.Config{}
		}
		config = anonymous(config)
	}
	if config.ServerName != "" {
		return config, nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	config = config.Clone()
	config.ServerName = host
	return config, nil
}

// tunnelled judges what a proxy says to CONNECT. Of one that says no, net/http would keep the words only.
func tunnelled(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode != http.StatusOK {
		return &TunnelError{Status: resp.StatusCode}
	}
	return nil
}
