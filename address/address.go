// Package address says how far an IP address reaches, the whole Internet or only a machine, a link or a site, and
// whether a URL that another machine named may lead there.
//
// A server that names a URL chooses where we connect to, from within our network. A server on the Internet has no
// business with what listens on our loopback interface or in our cellar; a server in the cellar may name its
// neighbours.
//
//	p := address.Policy{Scope: address.Public | address.Of(server)} // for what that server named
//	err := p.Check(addr)                                         // an *Error, if it leads to 10.0.0.5
//
// The package does not look names up and does not connect: an address is checked when a connection is made to it, not a
// name before, which may mean another address a moment later. It also writes hosts and URLs in ASCII, as name servers
// and servers know them.
package address

import (
	"fmt"
	"net/netip"
)

// A Scope is a set of addresses by how far they reach. That of one address has one bit.
type Scope uint16

// The kinds of addresses (IANA's special-purpose address registries, RFC 6890).
const (
	Public      Scope = 1 << iota // everything that is not below
	Loopback                      // this machine: 127.0.0.0/8, ::1
	Unspecified                   // this host on this network, which most systems take for loopback: 0.0.0.0/8, ::
	Private                       // a site: RFC 1918, RFC 4193, and the site-local addresses of old
	LinkLocal                     // RFC 3927, RFC 4291: there are also the servers that tell virtual machines their secrets
	Shared                        // between a provider and its customers, RFC 6598; also overlay networks
	Multicast
	Reserved // 240.0.0.0/4, broadcast in it

	Anywhere Scope = 1<<iota - 1
)

// kinds lists what is not public, with the words for it.
var kinds = []struct {
	scope    Scope
	words    string
	prefixes []netip.Prefix
}{
	{Loopback, "a loopback address", prefixes("127.0.0.0/8", "::1/128")},
	{Unspecified, "an address of this host", prefixes("0.0.0.0/8", "::/128")},
	{Private, "a private address", prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10")},
	{LinkLocal, "a link-local address", prefixes("169.254.0.0/16", "fe80::/10")},
	{Shared, "a shared address", prefixes("100.64.0.0/10")},
	{Multicast, "a multicast address", prefixes("224.0.0.0/4", "ff00::/8")},
	{Reserved, "a reserved address", prefixes("240.0.0.0/4")},
}

func prefixes(words ...string) (all []netip.Prefix) {
	for _, w := range words {
		all = append(all, netip.MustParsePrefix(w))
	}
	return all
}

// Of returns how far an address reaches. An IPv6 address with an IPv4 address in it reaches as far as that one. The scope of
// the zero Addr is empty.
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

// String names a scope of one bit: "a private address".
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

// inside lists where IPv6 addresses have an IPv4 address that packets to them end at. A site may have other prefixes for
// its translator (RFC 6052, section 2.2); they are not known outside.
var inside = []struct {
	prefix netip.Prefix
	at     int // byte
}{
	{netip.MustParsePrefix("::/96"), 12},           // IPv4-compatible, RFC 4291, section 2.5.5.1
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // IPv4-translated, RFC 2765, section 2.1
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // NAT64, RFC 6052, section 2.1
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},  // NAT64 of a site, RFC 8215, in its usual form
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4, RFC 3056, section 2
}

// bare is an address without its zone and, where it has an IPv4 address in it, that one.
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
