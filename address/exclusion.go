package address

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
)

// An Exclusion is a set of hosts that are never connected to: names with their subdomains, addresses, networks and
// countries. A nil or zero Exclusion excludes nothing. It must not be changed while it is in use.
type Exclusion struct {
	// Country returns the country of an address as two capital letters, or "" if it is unknown. If nil, no address is
	// excluded by its country.
	Country func(netip.Addr) string

	some []excluded
}

// An excluded is one word of an Exclusion: a name, a network or a country.
type excluded struct {
	word    string
	name    string
	net     netip.Prefix
	country string
}

var errExcluded = errors.New("write a name (which includes its subdomains), an address, " +
	"a network such as 10.0.0.0/8, or a country of two letters")

// Add excludes a name with its subdomains, an address, a network, or a country as two letters (ISO 3166-1).
func (x *Exclusion) Add(word string) error {
	if len(word) == 2 && isLetter(word[0]) && isLetter(word[1]) {
		x.some = append(x.some, excluded{word: word, country: strings.ToUpper(word)})
		return nil
	}
	var h Hosts
	if err := h.Add(strings.TrimPrefix(strings.TrimPrefix(word, "*"), ".")); err != nil {
		return errExcluded
	}
	e := excluded{word: word}
	if len(h.nets) > 0 {
		e.net = plain(h.nets[0])
	} else if e.name = h.names[0]; strings.Contains("."+e.name+".", "..") {
		return errExcluded
	}
	x.some = append(x.some, e)
	return nil
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// plain converts a network of IPv4-mapped IPv6 addresses to IPv4 (RFC 4291, section 2.5.5.2).
func plain(n netip.Prefix) netip.Prefix {
	if a := n.Addr(); a.Is4In6() && n.Bits() >= 96 {
		return netip.PrefixFrom(a.Unmap(), n.Bits()-96)
	}
	return n
}

// Clone returns a copy that can be changed independently.
func (x *Exclusion) Clone() *Exclusion {
	if x == nil {
		return &Exclusion{}
	}
	return &Exclusion{Country: x.Country, some: slices.Clone(x.some)}
}

// Countries returns the words that are countries.
func (x *Exclusion) Countries() (words []string) {
	if x != nil {
		for _, e := range x.some {
			if e.country != "" {
				words = append(words, e.word)
			}
		}
	}
	return words
}

// by returns the word of the first entry for which fits returns true, or "".
func (x *Exclusion) by(fits func(excluded) bool) string {
	if x == nil {
		return ""
	}
	if i := slices.IndexFunc(x.some, fits); i >= 0 {
		return x.some[i].word
	}
	return ""
}

// OfCountry returns the word that excludes a country, or "".
func (x *Exclusion) OfCountry(country string) string {
	return x.by(func(e excluded) bool { return country != "" && e.country == strings.ToUpper(country) })
}

// Check returns an *Error if a is excluded.
func (x *Exclusion) Check(a netip.Addr) error {
	if word := x.OfAddr(a); word != "" {
		return &Error{Addr: a, Excluded: word}
	}
	return nil
}

// OfAddr returns the word that excludes an address, or "".
func (x *Exclusion) OfAddr(a netip.Addr) string {
	if x == nil || !a.IsValid() {
		return ""
	}
	country := ""
	if x.Country != nil && len(x.Countries()) > 0 {
		country = x.Country(bare(a))
	}
	return x.by(func(e excluded) bool {
		return e.net.IsValid() && contains([]netip.Prefix{e.net}, a) || e.country != "" && e.country == country
	})
}

// CheckHost returns an *Error if the host of a URL is excluded. The host is a name or an address in any form.
func (x *Exclusion) CheckHost(host string) error {
	if x == nil || len(x.some) == 0 {
		return nil
	}
	all, numeric := readings(host)
	for _, a := range all {
		if word := x.OfAddr(a); word != "" {
			return &Error{Addr: a, host: host, Excluded: word}
		}
	}
	if numeric {
		return nil
	}
	name := canonical(host)
	word := x.by(func(e excluded) bool { return e.name != "" && (name == e.name || strings.HasSuffix(name, "."+e.name)) })
	if word != "" {
		return &Error{host: host, Excluded: word}
	}
	return nil
}
