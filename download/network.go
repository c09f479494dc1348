package download

import (
	"errors"
	"net/url"
	"time"

	"braid/internal/web"
	"braid/metalink"
	"braid/source"
	"braid/source/ftpsource"
	"braid/source/httpsource"
)

// A network makes sources by the schemes of their URLs. Requests that are no matter of ranges are made over HTTP.
type network struct {
	*httpsource.Client
	ftp     *ftpsource.Client
	swarms  source.Swarms
	timeout time.Duration // see Client.Timeout
	open    map[string]func(*url.URL) source.Source
}

// Source makes the source of the file at u. An FTP server is told name and password where o says that they are its own;
// nothing else of o is any of its business.
func (n network) Source(u *url.URL, o httpsource.Options) source.Source {
	if isFTP(u) {
		return n.ftp.Source(u, ftpsource.Options{User: o.User, Mirror: o.Mirror, Named: o.Named})
	}
	if n.opens(u) {
		return opened{n.open[u.Scheme](u), u}
	}
	return n.Client.Source(u, o)
}

// opens reports whether the caller has sources for such a URL (Client.Open).
func (n network) opens(u *url.URL) bool { return !isWeb(u) && !isFTP(u) && n.open[u.Scheme] != nil }

// network is who asks servers, and what is to be done when there are no more to ask.
func (c *Client) network() (n network, done func()) {
	n = network{c.HTTP, c.ftp, c.torrents, c.Timeout, c.Open}
	if n.Client == nil {
		n.Client = &httpsource.Client{}
	}
	if n.ftp == nil { // whom to trust, and where to go, does not depend on the protocol
		n.ftp = &ftpsource.Client{
			ConnectTimeout: n.ConnectTimeout, Timeout: c.Timeout, TLS: n.TLS, TLSFor: n.TLSFor,
			Proxy: proxyOf(n.Client), Outlet: n.Outlet, AllowHosts: n.AllowHosts, Resolver: n.Resolver, Credentials: c.Credentials,
		}
	}
	if n.swarms == nil {
		n.swarms = c.swarms(n)
	}
	return n, func() {
		if n.swarms != nil && c.torrents == nil {
			n.swarms.Close()
		}
		if n.Client != c.HTTP {
			n.CloseIdle()
		}
		if n.ftp != c.ftp {
			n.ftp.CloseIdle()
		}
	}
}

// proxyOf is how a proxy is chosen, for FTP as for HTTP.
func proxyOf(c *httpsource.Client) func(*url.URL) (*url.URL, error) {
	if c.Proxy == nil {
		return web.Environment()
	}
	return c.Proxy
}

// isWeb says that u is of a web server: what is no range of a file, such as a document, is asked for there.
func isWeb(u *url.URL) bool { return u.Scheme == "http" || u.Scheme == "https" }

func isFTP(u *url.URL) bool { return metalink.IsFTP(u) }

// errWebOnly: how good a digest is depends on how it came (rule 64), and the ways that are told apart are http and https.
var errWebOnly = errors.New("a document is read from disk or over http or https")
