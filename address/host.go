package address

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// ParseHost reads the host of a URL that is an IP address, in each form that a program on the way may take for one:
// beside what netip reads also 2130706433, 0x7f.1 and 017700000001 (inet_aton(3); WHATWG URL, section 3.5), with a dot
// at the end, and in the digits of other scripts. It reports false for names.
func ParseHost(host string) (netip.Addr, bool) {
	all, _ := readings(host)
	if len(all) == 0 {
		return netip.Addr{}, false
	}
	return all[0], true
}

// OfHost is the scope of the host of a URL: of an address in any form, and of a name that is never public. Of other names
// it is not known.
func OfHost(host string) (s Scope, ok bool) {
	all, numeric := readings(host)
	switch {
	case len(all) > 0:
		return Of(all[0]), true
	case numeric:
		return Reserved, true
	}
	s = ofName(ascii(host))
	return s, s != 0
}

// readings are the addresses that programs read a host as. They differ about a zero before other digits: to inet_aton(3) it makes
// an octal number, to others it says nothing. Numeric reports a host that ends in a number, as no name does (RFC 3696, section
// 2), whether or not that makes an address.
func readings(host string) (all []netip.Addr, numeric bool) {
	host = ascii(host)
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, true
	}
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if !isNumber(parts[len(parts)-1]) {
		return nil, false
	}
	for _, octal := range []bool{true, false} {
		if a, ok := inet(parts, octal); ok && !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all, true
}

// ascii is a host as programs look it up: in small letters, and in ASCII (RFC 5891).
func ascii(host string) string {
	if !isASCII(host) {
		if name, err := idna.Lookup.ToASCII(host); err == nil {
			host = name
		}
	}
	return strings.ToLower(host)
}

func isNumber(s string) bool {
	if hex, ok := strings.CutPrefix(s, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// inet reads one to four numbers as inet_aton(3) does: the last one fills what the others leave.
func inet(parts []string, octal bool) (netip.Addr, bool) {
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, p := range parts {
		n, ok := number(p, octal)
		most, bits := uint64(0xff), 8
		if i == len(parts)-1 {
			bits = 8 * (4 - i)
			most = 1<<bits - 1
		}
		if !ok || n > most {
			return netip.Addr{}, false
		}
		value = value<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

func number(s string, octal bool) (uint64, bool) {
	base := 10
	if hex, ok := strings.CutPrefix(s, "0x"); ok {
		if hex == "" { // which is 0 in URLs
			return 0, true
		}
		s, base = hex, 16
	} else if octal && len(s) > 1 && s[0] == '0' {
		base = 8
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}

// names lists those that are never public, with what is below them: RFC 6761, section 6.3, and what files of hosts have beside
// it; RFC 6762, RFC 8375, and the one that ICANN has set aside for sites.
var names = []struct {
	scope Scope
	words []string
}{
	{Loopback, []string{"localhost", "localhost.localdomain", "localhost4", "localhost6", "localhost4.localdomain4", "localhost6.localdomain6", "ip6-localhost", "ip6-loopback"}},
	{LinkLocal, []string{"local"}},
	{Private, []string{"internal", "home.arpa", "localdomain"}},
}

// ofName is the scope of a name in small letters, zero if it is not known. A name without a dot is one of a site.
func ofName(name string) Scope {
	name = strings.TrimSuffix(name, ".")
	for _, n := range names {
		for _, word := range n.words {
			if name == word || strings.HasSuffix(name, "."+word) {
				return n.scope
			}
		}
	}
	if name != "" && !strings.ContainsAny(name, ".:") {
		return Private
	}
	return 0
}
