// Package ftpsource fetches files from an FTP server. It implements [source.Source] over FTP (RFC 959, RFC 3659) for
// URLs of RFC 1738, also with TLS (RFC 4217, scheme ftps).
//
// A range is fetched with REST and RETR. After the wanted bytes the data connection is closed, which servers report as
// a broken transfer. Addresses in replies are ignored: data always comes from the peer of the control connection. A
// control connection serves one transfer at a time. It is reused if all replies arrived in order.
//
// The package does not list folders, write, change the working directory, accept connections or convert text. The
// caller handles retries and limits, and chooses the ranges. FTP has no validators, so a digest must prove that the
// bytes belong to the file.
//
//	var c ftpsource.Client
//	defer c.CloseIdle()
//	src := c.Source(u, ftpsource.Options{Mirror: true})
//	err := src.Fetch(ctx, byterange.Range{Start: 0, End: 1 << 20}, sink)
package ftpsource

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"braid/address"
	"braid/source"
)

const (
	defaultConnectTimeout = 10 * time.Second
	defaultTimeout        = 30 * time.Second // rule 21
	defaultCloseTimeout   = time.Second

	// idleTime is how long an idle connection is kept. FTP servers allow only few connections.
	idleTime = 30 * time.Second
)

// A Client connects to servers and reuses connections. The zero value is ready to use. It may be used concurrently, and
// must not be changed or copied after its first use.
type Client struct {
	// ConnectTimeout limits the time to connect, and the time of a TLS handshake. If zero, it is 10 s.
	ConnectTimeout time.Duration
	// Timeout limits the time for a reply, and the time without a byte of data. If zero, it is 30 s.
	Timeout time.Duration
	// CloseTimeout limits the wait for the end of the data after the last byte, and the wait for the reply after a data
	// connection was closed. Without that reply, the control connection is not reused. If zero, it is 1 s.
	CloseTimeout time.Duration
	// TLS is the configuration for ftps. If nil, the defaults of crypto/tls are used. Client certificates are shown
	// only to servers that the user named.
	TLS *tls.Config
	// Credentials returns the name and password for a server that the user named, for example from a netrc. It is
	// called only if the URL has no password. Without credentials, the name in the URL is used, or an anonymous login.
	Credentials func(u *url.URL) *url.Userinfo
	// TLSFor has configurations for single servers, as in httpsource.Client.TLSFor.
	TLSFor map[string]*tls.Config
	// Proxy returns the proxy for a URL: a SOCKS5 proxy, or an HTTP proxy that supports CONNECT. If nil, no proxy is
	// used.
	Proxy func(*url.URL) (*url.URL, error)
	// Outlet selects how connections leave this machine.
	Outlet source.Outlet
	// AllowHosts are hosts to which connections are always allowed.
	AllowHosts address.Hosts
	// Resolver resolves names. If nil, the resolver of package net is used.
	Resolver *net.Resolver

	mu   sync.Mutex
	idle map[account][]*control
}

// Options has the options of one source. The zero value is for a server that the user named.
type Options struct {
	// User is the name and password. If nil, the password in the URL is used, or else Client.Credentials.
	User *url.Userinfo
	// Mirror reports that a server or document named this server, not the user. The server gets no credentials.
	Mirror bool
	// Named has the scopes of addresses to which connections are allowed, if a server or document named the URL:
	// address.Public and the scope of that server. If zero, the user named the URL, and all addresses are allowed.
	Named address.Scope
	// Not excludes hosts from all connections, including connections to the URL's host.
	Not *address.Exclusion
}

// An account is a login at a server. Connections with the same account are interchangeable.
type account struct {
	scheme, host string // host:port
	name         string // of the host, for checking its certificate
	user         string
	password     string
	known        bool // the user named the server, which may see our certificate
}

const (
	anonymous         = "anonymous"
	anonymousPassword = "braid@" // instead of the address that RFC 1635, section 3.3, asks for
)

func (a account) anonymous() bool { return a.user == anonymous && a.password == anonymousPassword }

func (c *Client) connectTimeout() time.Duration {
	return cmp.Or(c.ConnectTimeout, defaultConnectTimeout)
}

func (c *Client) closeTimeout() time.Duration { return cmp.Or(c.CloseTimeout, defaultCloseTimeout) }

func (c *Client) timeout() time.Duration { return cmp.Or(c.Timeout, defaultTimeout) }

// CloseIdle closes the idle connections.
func (c *Client) CloseIdle() {
	c.mu.Lock()
	idle := c.idle
	c.idle = nil
	c.mu.Unlock()
	for _, controls := range idle {
		for _, k := range controls {
			if k.timer.Stop() {
				k.quit()
			}
		}
	}
}

// take returns an idle connection for a, or nil.
func (c *Client) take(a account) *control {
	c.mu.Lock()
	defer c.mu.Unlock()
	for waiting := c.idle[a]; len(waiting) > 0; waiting = c.idle[a] {
		k := waiting[len(waiting)-1]
		c.idle[a] = waiting[:len(waiting)-1]
		if k.timer.Stop() { // otherwise the timer is closing k
			return k
		}
	}
	return nil
}

// keep stores k for the next request, for at most idleTime.
func (c *Client) keep(k *control) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle == nil {
		c.idle = map[account][]*control{}
	}
	c.idle[k.account] = append(c.idle[k.account], k)
	k.timer = time.AfterFunc(idleTime, func() {
		c.forget(k)
		k.quit()
	})
}

func (c *Client) forget(k *control) {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := slices.DeleteFunc(c.idle[k.account], func(o *control) bool { return o == k })
	if c.idle[k.account] = left; len(left) == 0 {
		delete(c.idle, k.account)
	}
}

// policy returns the policy for connections to host. named is Options.Named.
func (c *Client) policy(host string, named address.Scope) address.Policy {
	if named == 0 {
		named = address.Anywhere
	}
	return c.AllowHosts.Policy(host, named)
}

// dial connects to addr, if p allows the address, and measures the round-trip time of the connect.
func (c *Client) dial(ctx context.Context, addr string, p address.Policy) (*net.TCPConn, time.Duration, error) {
	var begun atomic.Int64
	dialer := net.Dialer{
		Timeout: c.connectTimeout(), Resolver: c.Resolver,
		ControlContext: func(_ context.Context, _, to string, _ syscall.RawConn) error {
			begun.Store(time.Now().UnixNano())
			at, err := netip.ParseAddrPort(to)
			if err != nil {
				return err
			}
			return p.Check(at.Addr())
		},
	}
	c.Outlet.Apply(&dialer)
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, 0, err
	}
	return conn.(*net.TCPConn), time.Duration(time.Now().UnixNano() - begun.Load()), nil
}
