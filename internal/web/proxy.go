package web

import (
	"cmp"
	"errors"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"braid/address"
)

// ProxyRules are proxies by the scheme of what is asked for. The zero value has none. A word that is no proxy is an
// error and not "no proxy": a request that goes out directly cannot be taken back.
type ProxyRules struct {
	HTTP, HTTPS, FTP *url.URL
	// Except are the hosts that are asked directly.
	Except NoProxy
	// Everywhere sends also what is on this machine through the proxy. The variables do not.
	Everywhere bool
}

// OneProxy sends every request through one proxy.
func OneProxy(proxy *url.URL, except NoProxy) ProxyRules {
	return ProxyRules{HTTP: proxy, HTTPS: proxy, FTP: proxy, Except: except, Everywhere: true}
}

// For is the proxy for u, or nil.
func (r *ProxyRules) For(u *url.URL) *url.URL {
	var proxy *url.URL
	switch u.Scheme {
	case "http":
		proxy = r.HTTP
	case "https":
		proxy = r.HTTPS
	case "ftp", "ftps":
		proxy = r.FTP
	}
	if proxy == nil || !r.Everywhere && here(u.Hostname()) || r.Except.match(u) {
		return nil
	}
	return proxy
}

// here reports whether a host is this machine.
func here(host string) bool {
	s, ok := address.OfHost(host)
	return ok && s == address.Loopback
}

// ProxiesFromEnvironment reads the variables, of which get gives the values. Small letters come before capital ones.
// HTTP_PROXY is not read where a web server runs programs: there it is what a request says (CVE-2016-5385). The error
// names the variable.
func ProxiesFromEnvironment(get func(name string) string) (ProxyRules, error) {
	either := func(name string) (string, string) {
		upper := strings.ToUpper(name)
		if value := get(name); value != "" || name == "http_proxy" && get("REQUEST_METHOD") != "" {
			return name, value
		}
		return upper, get(upper)
	}
	_, except := either("no_proxy")
	r := ProxyRules{Except: ParseNoProxy(except)}
	for name, to := range map[string]**url.URL{"http_proxy": &r.HTTP, "https_proxy": &r.HTTPS, "ftp_proxy": &r.FTP} {
		name, value := either(name)
		if value == "" {
			name, value = either("all_proxy")
		}
		if value == "" {
			continue
		}
		proxy, err := ParseProxy(value)
		if err != nil {
			return ProxyRules{}, &VariableError{Name: name, Err: err}
		}
		*to = proxy
	}
	return r, nil
}

// Environment returns how proxies are chosen by what the variables say now.
func Environment() func(*url.URL) (*url.URL, error) {
	rules, err := ProxiesFromEnvironment(os.Getenv)
	return func(u *url.URL) (*url.URL, error) { return rules.For(u), err }
}

// A VariableError says which variable names no proxy. It does not quote it, as there may be a password in it.
type VariableError struct {
	Name string
	Err  error
}

func (e *VariableError) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap returns what is wrong.
func (e *VariableError) Unwrap() error { return e.Err }

var errForm = errors.New("write a proxy as http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT, with USER:PASSWORD@ before the host if it wants that")

// ports are those of proxies that name none.
var ports = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}

// ParseProxy reads a proxy. One without a scheme is one of HTTP. The URL that it returns has a port; of a path, which
// says nothing, it has none.
func ParseProxy(word string) (*url.URL, error) {
	if !strings.Contains(word, "://") {
		word = "http://" + word
	}
	u, err := url.Parse(word)
	if err != nil || u.Hostname() == "" || ports[u.Scheme] == "" || strings.ContainsAny(u.Hostname(), " \t") {
		return nil, errForm
	}
	port := cmp.Or(u.Port(), ports[u.Scheme])
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, errForm
	}
	host := u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return &url.URL{Scheme: u.Scheme, User: u.User, Host: host + ":" + port}, nil
}

// NoProxy are hosts that are asked directly. The zero value is none.
type NoProxy struct {
	all  bool
	some []exception
}

// An exception is one word of no_proxy.
type exception struct {
	name string       // with what is below it, or
	net  netip.Prefix // these addresses
	port string       // if not empty, this port of them only
}

// ParseNoProxy reads a list with commas or spaces between: names, which stand for what is below them, too (with a dot or *.
// before them or not), addresses, networks, each with a port if only that is meant, and * for everything. Programs differ
// about other words; those are names of no host.
func ParseNoProxy(list string) (e NoProxy) {
	for _, word := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		if word == "*" {
			e.all = true
			continue
		}
		e.some = append(e.some, parseException(strings.ToLower(word)))
	}
	return e
}

func parseException(word string) exception {
	if n, err := netip.ParsePrefix(word); err == nil {
		return exception{net: n.Masked()}
	}
	host, port := word, ""
	if a, err := netip.ParseAddr(strings.Trim(word, "[]")); err == nil {
		return exception{net: single(a)}
	}
	if i := strings.LastIndexByte(word, ':'); i >= 0 {
		host, port = word[:i], word[i+1:]
	}
	if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return exception{net: single(a), port: port}
	}
	return exception{name: strings.Trim(strings.TrimPrefix(host, "*"), "."), port: port}
}

func single(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	return netip.PrefixFrom(a, a.BitLen())
}

func (e NoProxy) match(u *url.URL) bool {
	if e.all {
		return true
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	port := cmp.Or(u.Port(), address.SchemeOf(u).Port)
	addr, isAddr := address.ParseHost(host)
	return slices.ContainsFunc(e.some, func(x exception) bool {
		switch {
		case x.port != "" && x.port != port:
			return false
		case isAddr:
			return x.net.IsValid() && x.net.Contains(addr.Unmap().WithZone(""))
		}
		return x.name != "" && (host == x.name || strings.HasSuffix(host, "."+x.name))
	})
}
