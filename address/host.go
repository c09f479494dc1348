package address

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// ParseHost parses the host of a URL that is an IP address. It accepts every form that some program treats as an
// address: besides the forms of netip also 2130706433, 0x7f.1 and 017700000001 (inet_aton(3); WHATWG URL, section 3.5),
// a trailing dot and digits of other scripts. It returns false for a name.
func ParseHost(host string) (netip.Addr, bool) {
	all, _ := readings(host)
	if len(all) == 0 {
		return netip.Addr{}, false
	}
	return all[0], true
}

// OfHost returns the scope of the host of a URL, if it is an address in any form or a name that is never public. ok is
// false for other names.
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

// readings returns the addresses that programs may understand by host. Programs differ in numbers with a leading zero:
// inet_aton(3) reads them as octal, other programs as decimal. numeric reports whether host ends in a number. A name
// does not (RFC 3696, section 2), so host is then an address or invalid.
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

// ascii returns a host in lower case and in ASCII (RFC 5891).
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

// inet parses one to four numbers like inet_aton(3). The last number fills the remaining bytes.
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
		if hex == "" { // means 0 in URLs
			return 0, true
		}
		s, base = hex, 16
	} else if octal && len(s) > 1 && s[0] == '0' {
		base = 8
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}

// names lists names that are never public, including their subdomains: RFC 6761, section 6.3, with other common entries
// of /etc/hosts; RFC 6762; RFC 8375; and internal, which ICANN has reserved for private use.
var names = []struct {
	scope Scope
	words []string
}{
	{Loopback, []string{"localhost", "localhost.localdomain", "localhost4", "localhost6", "localhost4.localdomain4",
		"localhost6.localdomain6", "ip6-localhost", "ip6-loopback"}},
	{LinkLocal, []string{"local"}},
	{Private, []string{"internal", "home.arpa", "localdomain"}},
}

// ofName returns the scope of a name in lower case, or 0 if it is unknown. A name without a dot is private.
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
