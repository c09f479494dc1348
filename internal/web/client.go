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

// A Client makes requests and keeps the connections between them. The zero value works. It may be used by several
// goroutines, and must not be changed or copied after its first use. Httpsource.Client has a comment for the fields of
// the same name.
type Client struct {
	UserAgent      string
	ConnectTimeout time.Duration
	HeaderTimeout  time.Duration
	IdlePerHost    int
	// MaxIdle bounds the connections that wait for another request, if it is not zero, and IdleTime how long they do;
	// if zero, it is a minute.
	MaxIdle  int
	IdleTime time.Duration
	// ReadBuffer is how many bytes of a head, and of the body behind it, one read of a connection takes; if zero, it is
	// that of net/http.
	ReadBuffer int

	TLS    *tls.Config
	TLSFor map[string]*tls.Config
	Proxy  func(*url.URL) (*url.URL, error)
	// Outlet changes a dialer that has its ControlContext. It may be nil.
	Outlet     func(*net.Dialer)
	AllowHosts address.Hosts
	Resolver   *net.Resolver
	Dial       func(ctx context.Context, network, addr string) (net.Conn, error)
	Wrap       func(own http.RoundTripper) http.RoundTripper
	Transport  http.RoundTripper

	once   sync.Once
	byTLS  map[*tls.Config]transports // by the configuration as the user made it
	logins logins
}

// init is called before each use.
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

// CloseIdle closes the connections that wait for another request.
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

// A Request is one request, without the redirects that may follow.
type Request struct {
	Method string
	Trail
	// Header is what Credentials.Header made, and what the caller added. Do adds who we are.
	Header http.Header
	// Body is that of a POST.
	Body []byte
	// User is what the user gave for the origin.
	User Credentials
	// Not are hosts that it must not lead to.
	Not *address.Exclusion
}

// Do sends a request, as far as its address is in scope, and reads the head of the answer. The error is that of net/http, an
// *AnswerError, a *HandshakeError, a *TunnelError or an *address.Error.
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
		Method: r.Method, URL: r.URL, Host: r.User.host(&r.Trail), Header: r.Header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if r.Body != nil {
		req.ContentLength = int64(len(r.Body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(r.Body)), nil }
		req.Body, _ = req.GetBody()
	}
	x, err := w.exchange(req.WithContext(ctx), c.transport(r.URL, !r.Away))
	if err == nil {
		x.said = said
	}
	return x, err
}
