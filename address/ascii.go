package address

import (
	"cmp"
	"errors"
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/idna"
)

var errName = errors.New("the host is no name that there can be")

// Name returns a host as name servers know it (RFC 5891): in ASCII and lower case, without a dot at its end. bücher.example is
// xn--bcher-kva.example. An IPv6 address is returned in its shortest form.
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

// URL is u with the name of its host as name servers know it. One whose name is no such name is returned as it is. User
// info, path and query are left as they are; package url escapes what is beyond ASCII in a path (RFC 3987, section
// 3.1).
func URL(u *url.URL) *url.URL {
	host := u.Hostname()
	if isASCII(host) {
		return u
	}
	if _, err := netip.ParseAddr(host); err == nil { // with a zone
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

// ports are those of schemes. That of ftps is the one of ftp: TLS begins after the greeting (RFC 4217).
var ports = map[string]string{"http": "80", "https": "443", "ftp": "21", "ftps": "21"}

// HostPort is where requests for u go, in lower case and with the port of the scheme if u has none.
func HostPort(u *url.URL) string {
	u = URL(u)
	return join(strings.ToLower(u.Hostname()), cmp.Or(u.Port(), ports[u.Scheme], "80"))
}

func join(host, port string) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + port
}

// ASCII returns a URL, or a glob over URLs, in ASCII (RFC 3987, section 3.1). What is ASCII already is returned as it is.
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

// escape writes octets beyond ASCII as %XX.
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
