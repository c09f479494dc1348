package source

import (
	"net/url"

	"braid/address"
)

// HostPort returns the host and port to which requests for u go, in lower case and with the scheme's default port if u
// has none. The limit of requests to a host applies to this value.
func HostPort(u *url.URL) string { return address.HostPort(u) }
