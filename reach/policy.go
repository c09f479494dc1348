package reach

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
)

// A Policy says to which addresses a connection may be made. The zero value allows none.
type Policy struct {
	Scope Scope
	Nets  []netip.Prefix // these, too, however far they reach
}

// Check says whether a connection to a is allowed. The error is an *Error.
func (p Policy) Check(a netip.Addr) error {
	if p.Scope == Anywhere || p.Scope&Of(a) != 0 || contains(p.Nets, a) {
		return nil
	}
	return &Error{Addr: a}
}

// CheckHost checks the host of a URL, if it is an address. About names it says nothing.
func (p Policy) CheckHost(host string) error {
	a, err := netip.ParseAddr(host)
	if err != nil {
		return nil
	}
	return p.Check(a)
}

// contains compares an address as it is, and the one in it.
func contains(nets []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(nets, func(n netip.Prefix) bool {
		return n.Contains(a.WithZone("")) || n.Contains(bare(a))
	})
}

// An Error says that a connection is not made: the address is closer to us than who named it.
type Error struct{ Addr netip.Addr }

func (e *Error) Error() string {
	return "leads to " + e.Addr.String() + ", " + Of(e.Addr).String() + ", and was named from elsewhere"
}

// Hosts are hosts that the user named, to connect to whoever names them. The zero value is nobody.
type Hosts struct {
	names []string
	nets  []netip.Prefix
}

var errHost = errors.New("write a name, an address or a network such as 10.0.0.0/8")

// Add adds a host: a name, an address, or all addresses of a network.
func (h *Hosts) Add(word string) error {
	if a, err := netip.ParseAddr(strings.Trim(word, "[]")); err == nil {
		a = a.WithZone("").Unmap()
		h.nets = append(h.nets, netip.PrefixFrom(a, a.BitLen()))
		return nil
	}
	if n, err := netip.ParsePrefix(word); err == nil {
		h.nets = append(h.nets, n.Masked())
		return nil
	}
	name := canonical(word)
	if name == "" || strings.ContainsAny(name, "/:?#@[]\\* \t") {
		return errHost
	}
	h.names = append(h.names, name)
	return nil
}

// Clone is a copy that can be added to.
func (h Hosts) Clone() Hosts { return Hosts{slices.Clone(h.names), slices.Clone(h.nets)} }

// canonical is a name as it is compared: names do not tell A from a, and may end in a dot.
func canonical(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// Policy is what counts for a request to a host that is allowed what s allows.
func (h Hosts) Policy(host string, s Scope) Policy {
	if slices.Contains(h.names, canonical(host)) {
		s = Anywhere
	}
	return Policy{Scope: s, Nets: h.nets}
}
