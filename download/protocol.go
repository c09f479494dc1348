package download

import (
	"net/url"

	"braid/address"
	"braid/source"
	"braid/source/ftpsource"
	"braid/source/httpsource"
)

// A protocol makes sources of URLs of one family of schemes (package address).
type protocol struct {
	// open returns the client of a download.
	open func(n network, c *Client) client
	// check returns an error if the file at u cannot be requested.
	check func(u *url.URL) error
	// cut returns the escaped path of a URL without what the protocol adds to the path.
	cut func(escaped string) string
}

// A client makes sources of files. A server gets a name and password only if the options say that they are
// its own.
type client interface {
	Source(u *url.URL, o httpsource.Options) source.Source
	CloseIdle()
}

// protocols are the protocols other than HTTP, by the family of their schemes.
var protocols = map[string]protocol{
	"ftp": {
		open: func(n network, c *Client) client {
			return ftpClient{&ftpsource.Client{ // trust and dial guard are the same for each protocol
				ConnectTimeout: n.ConnectTimeout, Timeout: c.Timeout, TLS: n.TLS, TLSFor: n.TLSFor,
				Proxy: proxyOf(n.Client), Outlet: n.Outlet, AllowHosts: n.AllowHosts, Resolver: n.Resolver,
				Credentials: c.Credentials,
			}}
		},
		check: ftpsource.Check,
		cut: func(escaped string) string {
			path, _ := ftpsource.CutType(escaped)
			return path
		},
	},
}

// protocolOf returns the protocol of u. It reports false for HTTP.
func protocolOf(u *url.URL) (p protocol, ok bool) {
	p, ok = protocols[address.SchemeOf(u).Family]
	return p, ok
}

// CheckURL returns an error if the file at u, whose scheme is a supported one, cannot be requested.
func CheckURL(u *url.URL) error {
	if p, ok := protocolOf(u); ok {
		return p.check(u)
	}
	return nil
}

// An ftpClient is a client of FTP servers, which need no other options.
type ftpClient struct{ *ftpsource.Client }

func (c ftpClient) Source(u *url.URL, o httpsource.Options) source.Source {
	return c.Client.Source(u, ftpsource.Options{User: o.User, Mirror: o.Mirror, Named: o.Named, Not: o.Not})
}
