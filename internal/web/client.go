package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"braid/address"
)

const (
	defaultUserAgent      = "braid"
	defaultConnectTimeout = 10 * time.Second
	defaultHeaderTimeout  = 30 * time.Second // rule 21
	defaultIdlePerHost    = 4
	defaultIdleTime       = 60 * time.Second
)

// Client makes HTTP requests and keeps connections between them. The zero value is ready to use. Its methods are safe
// for concurrent use. A Client must not be changed or copied after its first use. The fields without a comment are
// described at httpsource.Client.
type Client struct {
	UserAgent      string
	ConnectTimeout time.Duration
	HeaderTimeout  time.Duration
	IdlePerHost    int
	// MaxIdle limits the number of idle connections, if it is not zero. IdleTime is how long an idle connection is kept
	// open. If IdleTime is zero, it is a minute.
	MaxIdle  int
	IdleTime time.Duration
	// ReadBuffer is the size of the buffer for a header section and the start of the body. If zero, it is the default
	// of net/http.
	ReadBuffer int

	TLS    *tls.Config
	TLSFor map[string]*tls.Config
	Proxy  func(*url.URL) (*url.URL, error)
	// Outlet modifies the dialer after ControlContext was set. It may be nil.
	Outlet     func(*net.Dialer)
	AllowHosts address.Hosts
	Resolver   *net.Resolver
	Dial       func(ctx context.Context, network, addr string) (net.Conn, error)
	Wrap       func(own http.RoundTripper) http.RoundTripper
	Transport  http.RoundTripper

	once   sync.Once
	byTLS  map[*tls.Config]transports // by the user's configuration
	logins logins
}

// init initializes c. Every method that needs an initialized c calls init first.
func (c *Client) init() {
	c.once.Do(func() {
		if c.Proxy == nil {
			c.Proxy = Environment()
		}
		c.byTLS = map[*tls.Config]transports{c.TLS: c.newTransports(c.TLS)}
		for _, config := range c.TLSFor {
			if _, ok := c.byTLS[config]; !ok {
				c.byTLS[config] = c.newTransports(config)
			}
		}
	})
}

// CloseIdle closes the idle connections.
func (c *Client) CloseIdle() {
	c.init()
	for _, t := range c.byTLS {
		t.anonymous.own.CloseIdleConnections()
		t.known.own.CloseIdleConnections()
	}
}

func (c *Client) connectTimeout() time.Duration {
	return cmp.Or(c.ConnectTimeout, defaultConnectTimeout)
}

// Request is one request, without the redirects that may follow.
type Request struct {
	Method string
	Trail
	// Header is the result of Credentials.Header, with fields that the caller added. Do adds Authorization and
	// User-Agent.
	Header http.Header
	// Body is the body of a POST.
	Body []byte
	// User holds the credentials for the origin.
	User Credentials
	// Not holds the hosts that the request must not connect to.
	Not *address.Exclusion
}

// Do sends a request, if the addresses of its host are allowed, and reads the header section of the answer. The error
// is an error of net/http, an *AnswerError, a *HandshakeError, a *TunnelError or an *address.Error.
func (c *Client) Do(ctx context.Context, r *Request) (*Exchange, error) {
	c.init()
	w, err := c.route(r.URL, r.Named, r.Not)
	if err != nil {
		return nil, err
	}
	said := c.authorize(r)
	if r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", cmp.Or(c.UserAgent, defaultUserAgent))
	}
	req := &http.Request{
		Method: r.Method, URL: r.URL, Host: r.User.host(&r.Trail), Header: r.Header, Proto: "HTTP/1.1", ProtoMajor: 1,
		ProtoMinor: 1,
	}
	if r.Body != nil {
		req.ContentLength = int64(len(r.Body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(r.Body)), nil }
		req.Body, _ = req.GetBody()
	}
	TallyOf(ctx).Add(r.URL)
	x, err := w.exchange(ctx, req, c.transport(r.URL, !r.Away && !r.User.NoCertificate))
	if err == nil {
		x.said = said
	}
	return x, err
}
