// Package ftpsource has the bytes of an FTP server: a [source.Source] over FTP (RFC 959, RFC 3659) for URLs of RFC 1738,
// also with TLS (RFC 4217, scheme ftps).
//
// A range is REST, RETR and as many bytes as are wanted; then the data connection is closed, which servers call a broken
// transfer and mean no harm by. What the server says of addresses is not looked at: data comes from where commands go.
// A control connection serves one transfer at a time, and the next one if all replies came in order.
//
// It refuses to list folders, to write, to change the working directory, to be connected to, and to convert text. Retries,
// limits and the choice of ranges are for the caller. FTP has no validators: that the bytes are those of a file, a digest has
// to say.
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

	// idleTime is how long a connection waits for another range. Places at FTP servers are few.
	idleTime = 30 * time.Second

	// defaultCloseTime is how long the server has to notice that a data connection was closed, and to say so.
	defaultCloseTime = time.Second
)

// A Client connects to servers and keeps the connections between ranges. The zero value works. It may be used by several
// goroutines, and must not be changed or copied after its first use.
type Client struct {
	// ConnectTimeout limits the time to connect, and that of a TLS handshake. If zero, it is 10 s.
	ConnectTimeout time.Duration
	// Timeout limits the time for a reply, and that without a byte of data. If zero, it is 30 s.
	Timeout time.Duration
	// TLS is the configuration for ftps. If nil, it is that of crypto/tls. Its certificates are shown only to the servers
	// that the user named.
	TLS *tls.Config
	// Credentials are name and password for the server of a URL that the user named and that has no password, as a netrc tells
	// them. If nil, or if it returns nil, the URL's name counts, and without one we are anonymous. It is not asked for mirrors
	// of others.
	Credentials func(u *url.URL) *url.Userinfo
	// TLSFor has the configurations for servers that TLS is not for, as httpsource.Client.TLSFor has.
	TLSFor map[string]*tls.Config
	// Proxy chooses the proxy for a URL: one of SOCKS5, or one of HTTP that makes tunnels. If nil, there is none.
	Proxy func(*url.URL) (*url.URL, error)
	// Outlet is how connections leave this machine.
	Outlet source.Outlet
	// AllowHosts are connected to whoever names them.
	AllowHosts address.Hosts
	// Resolver looks names up. If nil, it is that of package net.
	Resolver *net.Resolver

	closing time.Duration // for tests; defaultCloseTime if zero

	mu   sync.Mutex
	idle map[account][]*control
}

// Options say what is special about one source. The zero value is a server that the user named.
type Options struct {
	// User is the name and password. If nil, those in the URL count; if there are none, Client.Credentials knows.
	User *url.Userinfo
	// Mirror says that not the user named this server, but a server or document. It gets no credentials.
	Mirror bool
	// Named says that not the user named this URL, but a server or document, and to where it may lead: address.Public
	// and where those are who named it. If zero, the user named it, and it may lead anywhere.
	Named address.Scope
	// Not are hosts that no connection may lead to, that of the URL included.
	Not *address.Exclusion
}

// An account is a name and password at a server: connections of one can take the place of each other.
type account struct {
	scheme, host string // host:port
	name         string // of the host, for its certificate
	user         string
	password     string
	known        bool // the user named the server: it may see our certificate
}

const (
	anonymous         = "anonymous"
	anonymousPassword = "braid@" // RFC 1635, section 3.3, has an address there; no server is told one
)

func (a account) anonymous() bool { return a.user == anonymous && a.password == anonymousPassword }

func (c *Client) connectTimeout() time.Duration {
	return cmp.Or(c.ConnectTimeout, defaultConnectTimeout)
}

func (c *Client) closeTime() time.Duration { return cmp.Or(c.closing, defaultCloseTime) }

func (c *Client) timeout() time.Duration { return cmp.Or(c.Timeout, defaultTimeout) }

// CloseIdle closes the connections that wait for another range.
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

// take is a connection of a that waits for another range, or nil.
func (c *Client) take(a account) *control {
	c.mu.Lock()
	defer c.mu.Unlock()
	for waiting := c.idle[a]; len(waiting) > 0; waiting = c.idle[a] {
		k := waiting[len(waiting)-1]
		c.idle[a] = waiting[:len(waiting)-1]
		if k.timer.Stop() { // else it is just being closed
			return k
		}
	}
	return nil
}

// keep lets a connection wait for another range.
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

// policy is where a connection to a host may lead.
func (c *Client) policy(host string, named address.Scope) address.Policy {
	if named == 0 {
		named = address.Anywhere
	}
	return c.AllowHosts.Policy(host, named)
}

// dial connects to addr, if that is allowed, and measures the round trip of the connect.
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
