package source

import (
	"net/url"

	"braid/address"
)

// HostPort is where requests for u go, in lower case and with the port of the scheme if u has none: what
// requests are counted by.
func HostPort(u *url.URL) string { return address.HostPort(u) }
