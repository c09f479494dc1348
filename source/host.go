package source

import (
	"net"
	"net/url"
	"strings"
)

// HostPort is where requests for u go, in lower case and with the port of the scheme if u has none: what
// requests are counted by (C7).
func HostPort(u *url.URL) string {
	u = ASCII(u)
	port := u.Port()
	if port == "" {
		port = portOf(u.Scheme)
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// portOf is the port of a scheme. That of ftps is the one of ftp: TLS begins after the greeting (RFC 4217).
func portOf(scheme string) string {
	switch scheme {
	case "https":
		return "443"
	case "ftp", "ftps":
		return "21"
	}
	return "80"
}
