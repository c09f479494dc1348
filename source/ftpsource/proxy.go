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

// maxTunnelHead limits the size of a proxy's response to CONNECT.
const maxTunnelHead = 64 << 10

var errTunnel = errors.New("the proxy's answer is not HTTP")

// connect connects to addr on the host of a, through a proxy if Client.Proxy returns one. The address to which a proxy
// connects is unknown here. So for a proxied connection, only a literal address and a name that is never public are
// checked (rule 63).
func (c *Client) connect(ctx context.Context, a account, addr string, p address.Policy) (conn *net.TCPConn,
	rtt time.Duration, proxied bool, err error) {
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

// dialData opens a data connection to a port of the server. It uses the address of the control connection, not the
// address in the reply (rule 58). A proxy gets the name of the host.
func (k *control) dialData(ctx context.Context, port int, p address.Policy) (*net.TCPConn, error) {
	host := k.peer.String()
	if k.proxied {
		host = k.account.name
	}
	conn, _, _, err := k.client.connect(ctx, k.account, net.JoinHostPort(host, strconv.Itoa(port)), p)
	return conn, err
}

// tlsFor returns the TLS configuration for a server.
func (c *Client) tlsFor(a account) *tls.Config {
	if config, ok := c.TLSFor[a.host]; ok {
		return config
	}
	if config, ok := c.TLSFor[strings.ToLower(a.name)]; ok {
		return config
	}
	return c.TLS
}

// tunnel connects to addr through the user's proxy via. It returns the connection to the proxy, over which the bytes of
// the server then come, and the round-trip time to the proxy.
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

// askTunnel requests a tunnel to addr from the proxy via (RFC 9110, section 9.3.6). It reads no bytes after the header
// of the response, because later bytes come from the FTP server.
func askTunnel(conn net.Conn, via *url.URL, addr string) error {
	request := "CONNECT " + addr + " HTTP/1.1\r\nHost: " + addr + "\r\n"
	if via.User != nil {
		password, _ := via.User.Password()
		basic := base64.StdEncoding.EncodeToString([]byte(via.User.Username() + ":" + password))
		request += "Proxy-Authorization: Basic " + basic + "\r\n"
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

// A given is an open connection that acts as a dialer.
type given struct{ net.Conn }

func (g given) Dial(string, string) (net.Conn, error)                         { return g.Conn, nil }
func (g given) DialContext(context.Context, string, string) (net.Conn, error) { return g.Conn, nil }

// askSocks requests a connection to addr from the proxy via (RFC 1928). The proxy resolves names.
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
