package source

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"braid/address"
)

// ASCII is u with the name of its host as name servers know it: bücher.example is xn--bcher-kva.example (RFC 5891). One whose
// name is no such name is returned as it is. User info, path and query are left as they are; package url escapes what is
// beyond ASCII in a path (RFC 3987, section 3.1).
func ASCII(u *url.URL) *url.URL {
	host := u.Hostname()
	if strings.IndexFunc(host, func(r rune) bool { return r >= 0x80 }) < 0 {
		return u
	}
	if _, err := netip.ParseAddr(host); err == nil { // with a zone
		return u
	}
	name, err := address.Name(host)
	if err != nil {
		return u
	}
	plain := *u
	if plain.Host = name; u.Port() != "" {
		plain.Host = net.JoinHostPort(name, u.Port())
	}
	return &plain
}
