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

// transports are the transports for one TLS configuration. known sends the user's client certificate, and anonymous
// does not. Without a certificate both are the same.
type transports struct{ anonymous, known wrapped }

// wrapped is a transport of this package, and the RoundTripper through which requests are sent. Both are the same
// unless Client.Wrap is set.
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

// anonymous returns config without the user's client certificate.
func anonymous(config *tls.Config) *tls.Config {
	config = config.Clone()
	config.Certificates, config.GetClientCertificate = nil, nil
	config.ClientSessionCache = tls.NewLRUClientSessionCache(0) // a resumed session would identify the user
	return config
}

// newTransport returns a transport without three defaults of net/http: HTTP/2, which would send all ranges of a host
// over one connection; gzip; and header sections of up to 10 MiB.
func (c *Client) newTransport(config *tls.Config) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  chosenProxy,
		OnProxyConnectResponse: tunnelled,
		DialContext:            c.dialPlain,
		DialTLSContext:         c.dialTLS(config),
		TLSClientConfig:        config, // for servers behind a proxy
		TLSHandshakeTimeout:    c.connectTimeout(),
		Protocols:              protocols,
		DisableCompression:     true,
		MaxIdleConns:           c.MaxIdle,
		MaxIdleConnsPerHost:    cmp.Or(c.IdlePerHost, defaultIdlePerHost),
		IdleConnTimeout:        cmp.Or(c.IdleTime, defaultIdleTime),
		ResponseHeaderTimeout:  cmp.Or(c.HeaderTimeout, defaultHeaderTimeout),
		ReadBufferSize:         c.ReadBuffer,
		MaxResponseHeaderBytes: maxHead + 8<<10, // a little more than the guard allows, because its error is more precise
	}
}

// transport returns the RoundTripper for a request to u. If own is set, the user named the server, and the server may
// receive the user's certificate.
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

// tlsFor returns the TLS configuration for the server at hostport.
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

// Proven reports whether data from u is known to come from its server: the scheme is https and the certificate is
// verified.
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
		return nil, err // not a nil *guard in an interface
	}
	return g, nil
}

// dial connects to addr and returns a guard around the socket. For a connection to a proxy, the guard begins as a
// tunnel.
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

// dialTLS connects to a server, or to a proxy that uses TLS. One guard is above TLS and checks the answers. Another
// guard is below TLS and observes how the connection ends.
func (c *Client) dialTLS(config *tls.Config) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		raw, err := c.dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		raw.phase = through // no other goroutine has access yet
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
		g.socket, raw.socket = raw.socket, nil // the guard above TLS knows where bodies end
		return g, nil
	}
}

// handshakeConfig returns the TLS configuration for the server at addr. A proxy does not receive the user's
// certificate, and the trust settings of the server do not apply to a proxy (rule 27).
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

// tunnelled checks a proxy's answer to CONNECT. For a refusal, net/http would keep only the reason phrase.
func tunnelled(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode != http.StatusOK {
		return &TunnelError{Status: resp.StatusCode}
	}
	return nil
}
