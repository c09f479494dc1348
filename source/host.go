package source

import (
	"net"
	"net/url"
	"strings"
)

// HostPort is where requests for u go, in lower case and with the port of the scheme if u has none: what
// requests are counted by (C7).
func HostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "80"
		if u.Scheme == "https" {
			port = "443"
		}
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}
