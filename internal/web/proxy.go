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

// ProxyRules choose a proxy by the scheme of the requested URL. The zero value uses no proxy. An invalid proxy is an
// error and never means "no proxy", because a request that was sent directly cannot be undone.
type ProxyRules struct {
	HTTP, HTTPS, FTP *url.URL
	// Except are the hosts that are reached without a proxy.
	Except NoProxy
	// Everywhere sends requests to this machine through the proxy, too. Rules from environment variables do not set it.
	Everywhere bool
}

// OneProxy returns rules that send all requests through proxy, except requests to the hosts in except.
func OneProxy(proxy *url.URL, except NoProxy) ProxyRules {
	return ProxyRules{HTTP: proxy, HTTPS: proxy, FTP: proxy, Except: except, Everywhere: true}
}

// For returns the proxy for u, or nil.
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

// here reports whether host is this machine.
func here(host string) bool {
	s, ok := address.OfHost(host)
	return ok && s == address.Loopback
}

// ProxiesFromEnvironment returns the rules of the environment variables. get returns the value of a variable.
// Lower-case names take precedence. HTTP_PROXY is ignored in a CGI program, because a header field of the request sets
// it there (CVE-2016-5385). The error names the variable.
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

// Environment returns a function that chooses proxies by the present environment variables.
func Environment() func(*url.URL) (*url.URL, error) {
	rules, err := ProxiesFromEnvironment(os.Getenv)
	return func(u *url.URL) (*url.URL, error) { return rules.For(u), err }
}

// VariableError reports a variable with a value that is not a proxy. It does not quote the value, which may contain a
// password.
type VariableError struct {
	Name string
	Err  error
}

func (e *VariableError) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *VariableError) Unwrap() error { return e.Err }

var errForm = errors.New("write a proxy as http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT, " +
	"with USER:PASSWORD@ before the host if the proxy requires it")

// ports are the default ports of proxies.
var ports = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}

// ParseProxy parses a proxy. Without a scheme, it is an HTTP proxy. The returned URL has a port but no path, because a
// path would have no meaning.
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

// NoProxy is a set of hosts that are reached without a proxy. The zero value is empty.
type NoProxy struct {
	all  bool
	some []exception
}

// exception is one word of no_proxy.
type exception struct {
	name string       // a host name, including its subdomains
	net  netip.Prefix // or a network
	port string       // if not empty, only this port
}

// ParseNoProxy parses a list of words, separated by commas or spaces. A word is * for everything, a name, an address or
// a network. A name includes its subdomains, whether or not it begins with a dot or *. A port after a name or an
// address limits the word to that port. Programs treat other words differently; here they match no host.
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
