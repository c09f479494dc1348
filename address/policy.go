package address

import (
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// A Policy decides to which addresses a connection may be made. The zero value allows none.
type Policy struct {
	Scope Scope
	Nets  []netip.Prefix // also allowed, whatever their scope
	Not   *Exclusion     // never allowed, even if in Scope or Nets
}

// Check returns an *Error if a connection to a is not allowed.
func (p Policy) Check(a netip.Addr) error {
	if err := p.Not.Check(a); err != nil {
		return err
	}
	if p.Scope == Anywhere || p.Scope&Of(a) != 0 || contains(p.Nets, a) {
		return nil
	}
	return &Error{Addr: a}
}

// CheckHost returns an *Error if the host of a URL is an address in any form, see [ParseHost], and is not allowed. A
// name is checked only against Not. The addresses of a name must be checked when a connection is made.
func (p Policy) CheckHost(host string) error {
	if err := p.Not.CheckHost(host); err != nil {
		return err
	}
	all, numeric := readings(host)
	for _, a := range all {
		if p.Check(a) != nil {
			return &Error{Addr: a, host: host}
		}
	}
	if numeric && len(all) == 0 {
		return p.checkName(host, Reserved)
	}
	return nil
}

// CheckProxied is like CheckHost, for a host to which a proxy connects. The addresses of its name are unknown, so
// CheckProxied also refuses names that are never public, unless their scope is allowed.
func (p Policy) CheckProxied(host string) error {
	if err := p.CheckHost(host); err != nil {
		return err
	}
	if _, numeric := readings(host); numeric {
		return nil
	}
	return p.checkName(host, ofName(ascii(host)))
}

// checkName returns an *Error if a host with this scope is not allowed. A scope of 0 is unknown and allowed.
func (p Policy) checkName(host string, s Scope) error {
	if s == 0 || p.Scope&s != 0 || s == Loopback && contains(p.Nets, netip.MustParseAddr("127.0.0.1")) {
		return nil
	}
	return &Error{host: host, scope: s}
}

// contains reports whether one of nets contains an address or the IPv4 address embedded in it.
func contains(nets []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(nets, func(n netip.Prefix) bool {
		return n.Contains(a.WithZone("")) || n.Contains(bare(a))
	})
}

// An Error reports a connection that is not allowed, because its address is not in the policy or is excluded.
type Error struct {
	Addr     netip.Addr // invalid if only the name is known
	Excluded string     // the word of the Exclusion that excludes it, or ""
	host     string     // as written in the URL, or ""
	scope    Scope      // scope of the name
}

func (e *Error) Error() string {
	to, scope := e.host, e.scope
	if e.Addr.IsValid() {
		to, scope = e.Addr.String(), Of(e.Addr)
	}
	if _, err := netip.ParseAddr(e.host); err != nil && e.host != "" && e.host != to {
		to = strconv.Quote(e.host) + ", which is " + to
	}
	if e.Excluded != "" {
		return "leads to " + to + ", which is excluded (" + e.Excluded + ")"
	}
	return "leads to " + to + ", " + scope.String() + ", and was named by a server elsewhere"
}

// A Hosts is a set of hosts that the user named. Connections to them are allowed even if another server names them. The
// zero value is empty.
type Hosts struct {
	names []string
	nets  []netip.Prefix
}

var errHost = errors.New("write a name, an address or a network such as 10.0.0.0/8")

// Add adds a name, an address or all addresses of a network.
func (h *Hosts) Add(word string) error {
	if a, ok := ParseHost(strings.Trim(word, "[]")); ok {
		a = a.WithZone("").Unmap()
		h.nets = append(h.nets, netip.PrefixFrom(a, a.BitLen()))
		return nil
	}
	if n, err := netip.ParsePrefix(word); err == nil {
		h.nets = append(h.nets, n.Masked())
		return nil
	}
	name := canonical(word)
	if name == "" || strings.ContainsAny(name, "/:?#@[]\\*, \t") {
		return errHost
	}
	h.names = append(h.names, name)
	return nil
}

// Clone returns a copy that can be changed independently.
func (h Hosts) Clone() Hosts { return Hosts{slices.Clone(h.names), slices.Clone(h.nets)} }

// canonical returns a name in lower case and without a trailing dot, for comparisons.
func canonical(name string) string { return strings.TrimSuffix(ascii(name), ".") }

// Policy returns the policy for a request to a host. It allows the addresses in scope s and in the networks of h. If h
// has the name host, all addresses are allowed.
func (h Hosts) Policy(host string, s Scope) Policy {
	if slices.Contains(h.names, canonical(host)) {
		s = Anywhere
	}
	return Policy{Scope: s, Nets: h.nets}
}
