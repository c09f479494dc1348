package address

import (
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// A Policy says to which addresses a connection may be made. The zero value allows none.
type Policy struct {
	Scope Scope
	Nets  []netip.Prefix // these, too, however far they reach
	Not   *Exclusion     // none of these, whatever the others say
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

// CheckHost checks the host of a URL, if it is an address in any form, see [ParseHost]. Names are not checked: the addresses are
// that they turn out to have, where connections are made. The error is an *Error.
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

// CheckProxied is CheckHost where a proxy connects, whose addresses are out of sight: names that are never public are
// checked, too.
func (p Policy) CheckProxied(host string) error {
	if err := p.CheckHost(host); err != nil {
		return err
	}
	if _, numeric := readings(host); numeric {
		return nil
	}
	return p.checkName(host, ofName(ascii(host)))
}

// checkName checks a host by its scope, which is zero if that is not known.
func (p Policy) checkName(host string, s Scope) error {
	if s == 0 || p.Scope&s != 0 || s == Loopback && contains(p.Nets, netip.MustParseAddr("127.0.0.1")) {
		return nil
	}
	return &Error{host: host, scope: s}
}

// contains compares an address as it is, and the one in it.
func contains(nets []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(nets, func(n netip.Prefix) bool {
		return n.Contains(a.WithZone("")) || n.Contains(bare(a))
	})
}

// An Error reports a connection that is not made: the address is closer to us than the server that named it, or it is excluded.
type Error struct {
	Addr     netip.Addr // not valid if only the name is known
	Excluded string     // the word of an Exclusion; else empty
	host     string     // as it was written, if it was
	scope    Scope      // of the name
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
	return "leads to " + to + ", " + scope.String() + ", and was named from elsewhere"
}

// Hosts are hosts that the user named: connections to them are allowed whatever server names them. The zero value has none.
type Hosts struct {
	names []string
	nets  []netip.Prefix
}

var errHost = errors.New("write a name, an address or a network such as 10.0.0.0/8")

// Add adds a host: a name, an address, or all addresses of a network.
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

// Clone is a copy that can be added to.
func (h Hosts) Clone() Hosts { return Hosts{slices.Clone(h.names), slices.Clone(h.nets)} }

// canonical is a name as it is compared: names do not tell A from a, and may end in a dot.
func canonical(name string) string { return strings.TrimSuffix(ascii(name), ".") }

// Policy is what counts for a request to a host that is allowed what s allows.
func (h Hosts) Policy(host string, s Scope) Policy {
	if slices.Contains(h.names, canonical(host)) {
		s = Anywhere
	}
	return Policy{Scope: s, Nets: h.nets}
}
