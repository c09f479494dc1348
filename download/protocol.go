package download

import (
	"net/url"

	"braid/address"
	"braid/source"
	"braid/source/ftpsource"
	"braid/source/httpsource"
)

// A protocol has what this package needs for one family of schemes (package address).
type protocol struct {
	// open returns a client with the settings of n and c.
	open func(n network, c *Client) client
	// check returns an error if the file at u cannot be requested.
	check func(u *url.URL) error
	// cut removes parts that the protocol adds to the escaped path of a URL, such as ";type=i".
	cut func(escaped string) string
}

// A client makes the sources for URLs of one protocol.
type client interface {
	Source(u *url.URL, o httpsource.Options) source.Source
	CloseIdle()
}

// protocols are the protocols other than HTTP, by the family of their schemes.
var protocols = map[string]protocol{
	"ftp": {
		open: func(n network, c *Client) client {
			return ftpClient{&ftpsource.Client{ // the checks of certificates and addresses are the same for each protocol
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

// CheckURL returns an error if the file at u cannot be requested. The scheme of u must be supported.
func CheckURL(u *url.URL) error {
	if p, ok := protocolOf(u); ok {
		return p.check(u)
	}
	return nil
}

// An ftpClient is a client for FTP. Options that Source does not pass on do not apply to FTP.
type ftpClient struct{ *ftpsource.Client }

func (c ftpClient) Source(u *url.URL, o httpsource.Options) source.Source {
	return c.Client.Source(u, ftpsource.Options{User: o.User, Mirror: o.Mirror, Named: o.Named, Not: o.Not})
}
