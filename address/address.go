// Package address classifies IP addresses as public, private, loopback and so on. It decides whether a connection to an
// address may be made if another machine named the address in a URL.
//
// A server that names a URL chooses an address that we connect to from within our network. A server on the Internet
// must not direct us to our loopback interface or a private network. A server in a private network may name its
// neighbours.
//
//	p := address.Policy{Scope: address.Public | address.Of(server)} // for URLs that server named
//	err := p.Check(addr)                                         // an *Error, if addr is 10.0.0.5
//
// The package does not resolve names and does not connect. An address must be checked when the connection is made.
// Checking a resolved name earlier is not enough, because the name may resolve to another address later. The package
// also converts hosts and URLs to ASCII.
package address

import (
	"fmt"
	"net/netip"
)

// A Scope is a set of kinds of addresses. The scope of one address has one bit.
type Scope uint16

// The kinds of addresses (IANA's special-purpose address registries, RFC 6890).
const (
	Public      Scope = 1 << iota // all other addresses
	Loopback                      // this machine: 127.0.0.0/8, ::1
	Unspecified                   // this host on this network: 0.0.0.0/8, ::; most systems treat it as loopback
	Private                       // a site: RFC 1918, RFC 4193, and the former site-local addresses
	LinkLocal                     // RFC 3927, RFC 4291; includes the metadata services of clouds, which return secrets
	Shared                        // between a provider and its customers, RFC 6598; also overlay networks
	Multicast
	Reserved // 240.0.0.0/4, including broadcast

	Anywhere Scope = 1<<iota - 1
)

// kinds lists the scopes other than Public with their descriptions.
var kinds = []struct {
	scope    Scope
	words    string
	prefixes []netip.Prefix
}{
	{Loopback, "a loopback address", prefixes("127.0.0.0/8", "::1/128")},
	{Unspecified, "an address of this host", prefixes("0.0.0.0/8", "::/128")},
	{Private, "a private address", prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10")},
	{LinkLocal, "a link-local address", prefixes("169.254.0.0/16", "fe80::/10")},
	{Shared, "an address of the shared address space", prefixes("100.64.0.0/10")},
	{Multicast, "a multicast address", prefixes("224.0.0.0/4", "ff00::/8")},
	{Reserved, "a reserved address", prefixes("240.0.0.0/4")},
}

func prefixes(words ...string) (all []netip.Prefix) {
	for _, w := range words {
		all = append(all, netip.MustParsePrefix(w))
	}
	return all
}

// Of returns the scope of an address. The scope of an IPv6 address with an embedded IPv4 address is that of the IPv4
// address. The scope of the zero Addr is 0.
func Of(a netip.Addr) Scope {
	if !a.IsValid() {
		return 0
	}
	a = bare(a)
	for _, k := range kinds {
		for _, p := range k.prefixes {
			if p.Contains(a) {
				return k.scope
			}
		}
	}
	return Public
}

// String returns a description, such as "a private address", if s is a single scope.
func (s Scope) String() string {
	for _, k := range kinds {
		if k.scope == s {
			return k.words
		}
	}
	if s == Public {
		return "a public address"
	}
	return fmt.Sprintf("addresses %#x", uint16(s))
}

// inside lists the IPv6 prefixes with an embedded IPv4 address that receives the packets. The table lacks prefixes that
// a site has chosen for its own translator (RFC 6052, section 2.2).
var inside = []struct {
	prefix netip.Prefix
	at     int // byte offset of the IPv4 address
}{
	{netip.MustParsePrefix("::/96"), 12},           // IPv4-compatible, RFC 4291, section 2.5.5.1
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // IPv4-translated, RFC 2765, section 2.1
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // NAT64, RFC 6052, section 2.1
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},  // NAT64 of a site, RFC 8215, in its usual form
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4, RFC 3056, section 2
}

// bare returns the IPv4 address that is embedded in an address, or otherwise the address without its zone.
func bare(a netip.Addr) netip.Addr {
	a = a.WithZone("").Unmap()
	if a.Is4() || a.IsUnspecified() || a.IsLoopback() {
		return a
	}
	bytes := a.As16()
	for _, i := range inside {
		if i.prefix.Contains(a) {
			return netip.AddrFrom4([4]byte(bytes[i.at : i.at+4]))
		}
	}
	return a
}
