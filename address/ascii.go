package address

import (
	"cmp"
	"errors"
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/idna"
)

var errName = errors.New("not a valid host name")

// Name returns a host in the form of the DNS (RFC 5891): in ASCII and lower case, without a trailing dot.
// bücher.example becomes xn--bcher-kva.example. An IPv6 address is returned in its shortest form.
func Name(name string) (string, error) {
	name = strings.TrimSuffix(name, ".")
	if a, err := netip.ParseAddr(name); err == nil {
		return a.String(), nil
	}
	if isASCII(name) {
		return strings.ToLower(name), nil
	}
	plain, err := idna.Lookup.ToASCII(name)
	if err != nil {
		return "", errName
	}
	return strings.TrimSuffix(plain, "."), nil
}

// URL returns u with its host converted by Name. It returns u itself if the host is not a valid name. The user
// information, path and query are not changed. Package url percent-encodes non-ASCII characters in a path (RFC 3987,
// section 3.1).
func URL(u *url.URL) *url.URL {
	host := u.Hostname()
	if isASCII(host) {
		return u
	}
	if _, err := netip.ParseAddr(host); err == nil { // an address with a non-ASCII zone
		return u
	}
	name, err := Name(host)
	if err != nil {
		return u
	}
	plain := *u
	if plain.Host = name; u.Port() != "" {
		plain.Host = join(name, u.Port())
	}
	return &plain
}

// HostPort returns the host and port to connect to for u, in lower case. If u has no port, it is the default port of
// the scheme.
func HostPort(u *url.URL) string {
	u = URL(u)
	return join(strings.ToLower(u.Hostname()), cmp.Or(u.Port(), SchemeOf(u).Port, "80"))
}

// SameOrigin reports whether two URLs have the same scheme, host and port.
func SameOrigin(a, b string) bool {
	u, err1 := url.Parse(a)
	v, err2 := url.Parse(b)
	return err1 == nil && err2 == nil && u.Host != "" && strings.EqualFold(u.Scheme, v.Scheme) && HostPort(u) == HostPort(v)
}

// SameServer reports whether a and b are on the same server: their schemes, hosts and ports are equal, or a is http on
// port 80 and b is https on port 443 of the same host. On other ports, http and https may be different servers. The
// opposite, a as https and b as http, is not the same server: a URL that another server named must not lead from https
// to http. Two nil URLs are on the same server.
func SameServer(a, b *url.URL) bool {
	if a == nil || b == nil {
		return a == b
	}
	here, there := HostPort(a), HostPort(b)
	if a.Scheme == "http" && b.Scheme == "https" {
		host, plain := strings.CutSuffix(here, ":80")
		return plain && there == host+":443"
	}
	return a.Scheme == b.Scheme && here == there
}

func join(host, port string) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + port
}

// ASCII returns a URL, or a glob over URLs, in ASCII (RFC 3987, section 3.1). If s is ASCII, it is returned unchanged.
func ASCII(s string) (string, error) {
	if isASCII(s) {
		return s, nil
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return s, nil
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	user, host := "", rest[:end]
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		user, host = host[:i+1], host[i+1:]
	}
	name, port := host, ""
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		name, port = host[:i], host[i:]
	}
	if !isASCII(name) {
		plain, err := Name(name)
		if err != nil {
			return "", err
		}
		name = plain
	}
	return scheme + "://" + escape(user) + name + port + escape(rest[end:]), nil
}

// escape percent-encodes the bytes of s that are not ASCII.
func escape(s string) string {
	const hex = "0123456789ABCDEF"
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < 0x80 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}
