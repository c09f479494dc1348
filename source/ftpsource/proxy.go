package ftpsource

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/proxy"

	"braid/address"
	"braid/internal/web"
	"braid/source"
)

// maxTunnelHead is the most that a proxy may say before a tunnel begins.
const maxTunnelHead = 64 << 10

var errTunnel = errors.New("the proxy does not speak HTTP")

// connect connects to addr, at the host of a: through a proxy, if there is one for it. It is not visible here what a
// proxy connects to; of those that are asked for, addresses are checked, and names that are never public (rule 63).
func (c *Client) connect(ctx context.Context, a account, addr string, p address.Policy) (conn *net.TCPConn, rtt time.Duration, proxied bool, err error) {
	if err := p.Not.CheckHost(a.name); err != nil {
		return nil, 0, false, err
	}
	var via *url.URL
	if c.Proxy != nil {
		if via, err = c.Proxy(&url.URL{Scheme: a.scheme, Host: a.host}); err != nil {
			return nil, 0, false, err
		}
	}
	if via == nil {
		conn, rtt, err = c.dial(ctx, addr, p)
		return conn, rtt, false, err
	}
	if err := p.CheckProxied(a.name); err != nil {
		return nil, 0, true, err
	}
	conn, rtt, err = c.tunnel(ctx, via, addr)
	return conn, rtt, true, err
}

// dialData connects to a port for data: at the peer of the control connection, whatever the server says (rule 58), or through its
// proxy at the host that this was asked for.
func (k *control) dialData(ctx context.Context, port int, p address.Policy) (*net.TCPConn, error) {
	host := k.peer.String()
	if k.proxied {
		host = k.account.name
	}
	conn, _, _, err := k.client.connect(ctx, k.account, net.JoinHostPort(host, strconv.Itoa(port)), p)
	return conn, err
}

// tlsFor is the configuration for a server.
func (c *Client) tlsFor(a account) *tls.Config {
	if config, ok := c.TLSFor[a.host]; ok {
		return config
	}
	if config, ok := c.TLSFor[strings.ToLower(a.name)]; ok {
		return config
	}
	return c.TLS
}

// tunnel connects to addr through a proxy, which is where the user says. What it returns is the connection itself: nothing is
// between its bytes and the server once it stands. The time of the round trip is that to the proxy.
func (c *Client) tunnel(ctx context.Context, via *url.URL, addr string) (*net.TCPConn, time.Duration, error) {
	conn, rtt, err := c.dial(ctx, via.Host, address.Policy{Scope: address.Anywhere})
	if err != nil {
		return nil, 0, &source.ProxyError{Err: source.Plain(err)}
	}
	conn.SetDeadline(time.Now().Add(c.connectTimeout()))
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	switch via.Scheme {
	case "http":
		err = askTunnel(conn, via, addr)
	case "socks5", "socks5h":
		err = askSocks(ctx, conn, via, addr)
	default:
		err = fmt.Errorf("FTP through a proxy of scheme %s", via.Scheme)
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, 0, err
	}
	conn.SetDeadline(time.Time{})
	return conn, rtt, nil
}

// askTunnel asks for a tunnel (RFC 9110, section 9.3.6). What is behind the head of the answer is the server's: it is not read.
func askTunnel(conn net.Conn, via *url.URL, addr string) error {
	request := "CONNECT " + addr + " HTTP/1.1\r\nHost: " + addr + "\r\n"
	if via.User != nil {
		password, _ := via.User.Password()
		request += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(via.User.Username()+":"+password)) + "\r\n"
	}
	if _, err := conn.Write([]byte(request + "\r\n")); err != nil {
		return &source.ProxyError{Err: err}
	}
	var head []byte
	for one := make([]byte, 1); !bytes.HasSuffix(head, []byte("\r\n\r\n")); head = append(head, one...) {
		if len(head) > maxTunnelHead || len(head) == 5 && string(head) != "HTTP/" {
			return &source.ProxyError{Err: errTunnel}
		}
		if _, err := conn.Read(one); err != nil {
			return &source.ProxyError{Err: err}
		}
	}
	line, _, _ := bytes.Cut(head, []byte("\r\n"))
	_, code, _ := bytes.Cut(line, []byte(" "))
	status, err := strconv.Atoi(string(code[:min(3, len(code))]))
	switch {
	case err != nil || !bytes.HasPrefix(line, []byte("HTTP/1.")):
		return &source.ProxyError{Err: errTunnel}
	case status < 200 || status >= 300:
		return &web.TunnelError{Status: status}
	}
	return nil
}

// given is a connection that was made already, as a dialer.
type given struct{ net.Conn }

func (g given) Dial(string, string) (net.Conn, error)                         { return g.Conn, nil }
func (g given) DialContext(context.Context, string, string) (net.Conn, error) { return g.Conn, nil }

// askSocks asks for a connection (RFC 1928). Names are looked up by the proxy.
func askSocks(ctx context.Context, conn net.Conn, via *url.URL, addr string) error {
	var auth *proxy.Auth
	if via.User != nil {
		password, _ := via.User.Password()
		auth = &proxy.Auth{User: via.User.Username(), Password: password}
	}
	d, err := proxy.SOCKS5("tcp", via.Host, auth, given{conn})
	if err != nil {
		return err
	}
	_, err = d.(proxy.ContextDialer).DialContext(ctx, "tcp", addr)
	return err
}
