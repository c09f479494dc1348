package apt

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"braid/internal/once"
	"braid/internal/web"
	"braid/source"
	"braid/source/httpsource"
)

// mostPEM limits the size of a file with certificates.
const mostPEM = 16 << 20

// readSmall reads a file of at most most bytes.
func readSmall(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s has more than %d bytes", name, most)
	}
	return data, err
}

// newClient returns an HTTP client with apt's settings.
func (s *settings) newClient(proxies *proxies) (*httpsource.Client, error) {
	wait := s.timeout()
	c := &httpsource.Client{
		UserAgent: s.option(anyServer, "User-Agent"), ConnectTimeout: min(wait, 10*time.Second), HeaderTimeout: wait,
		IdlePerHost: atOnce,
		Proxy:       proxies.of, TLSFor: map[string]*tls.Config{},
	}
	switch {
	case is(s.get("Acquire::ForceIPv4"), false):
		c.Outlet.Addr = netip.IPv4Unspecified()
	case is(s.get("Acquire::ForceIPv6"), false):
		c.Outlet.Addr = netip.IPv6Unspecified()
	}
	if !is(s.option(anyServer, "AllowRedirect"), true) {
		c.Wrap = func(own http.RoundTripper) http.RoundTripper { return noRedirects{own} }
	}
	if err := s.checkTrust(); err != nil {
		return c, err
	}
	var err error
	if c.TLS, err = s.tls(anyServer); err != nil {
		return c, err
	}
	for name := range s.values {
		if host, word := aboutTrust(name); word != "" && host != "" {
			if c.TLSFor[host], err = s.tls(&url.URL{Scheme: "https", Host: host}); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

// anyServer is the URL that selects the settings for all servers.
var anyServer = &url.URL{Scheme: "https"}

// timeout returns how long a server may send nothing.
func (s *settings) timeout() time.Duration {
	return time.Duration(max(1, min(s.number(anyServer, "Timeout", 30), 86400))) * time.Second
}

// trustName matches the settings that concern trust in servers, for all servers or for one.
var trustName = once.Pattern(`^acquire::(?:https?|braid|braid\+https?)::(?:(.+)::)?(` +
	`(?:ca(?:$|cert|dir|file|info|path|store)|key|pin)[^:]*|` +
	`[^:]*(?:cert|cipher|crl|insecure|issuer|ocsp|revo|ssl|tls|trust|verif)[^:]*)$`)

// aboutTrust returns the server and the last word of a name that trustName matches. word is "" if the name does not
// match. It is also "" after Proxy::, where the last word is a server.
func aboutTrust(name string) (host, word string) {
	x := trustName().FindStringSubmatch(name)
	if x == nil || x[1] == "proxy" {
		return "", ""
	}
	return x[1], x[2]
}

// checkTrust returns an error if a setting that concerns trust is not supported. Ignoring it could trust too many
// servers.
func (s *settings) checkTrust() error {
	for name, value := range s.values {
		switch _, word := aboutTrust(name); {
		case word == "" || value == "":
		case word == "cainfo", word == "sslcert", word == "sslkey", word == "verify-peer":
		case word == "verify-host" && is(value, true):
		default:
			return &trustError{name}
		}
	}
	for name := range s.lists {
		if _, word := aboutTrust(name); word != "" {
			return &trustError{name} // the supported settings have one value
		}
	}
	return nil
}

// A trustError reports a setting that is not supported.
type trustError struct{ setting string }

func (e *trustError) Error() string {
	return "the setting " + e.setting + " is about trust and unknown to braid, so nothing is fetched: " +
		"remove it, or let apt use its own transport"
}

// tls returns the TLS configuration for a server.
func (s *settings) tls(u *url.URL) (*tls.Config, error) {
	c := &tls.Config{InsecureSkipVerify: !is(s.option(u, "Verify-Peer"), true)}
	if name := s.option(u, "CaInfo"); name != "" {
		data, err := readSmall(name, mostPEM)
		if err != nil {
			return nil, fmt.Errorf("CaInfo: %w", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("CaInfo: no certificate in %s", name)
		}
	}
	name, key := s.option(u, "SslCert"), s.option(u, "SslKey")
	if name == "" {
		if key != "" {
			return nil, errors.New("SslKey: a key is given without SslCert")
		}
		return c, nil
	}
	if key == "" {
		key = name
	}
	pair, err := tls.LoadX509KeyPair(name, key)
	if err != nil {
		return nil, fmt.Errorf("SslCert: %w", err)
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}

// A noRedirects is a RoundTripper that refuses redirects (AllowRedirect).
type noRedirects struct{ http.RoundTripper }

func (n noRedirects) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := n.RoundTripper.RoundTrip(r)
	if err == nil && web.IsRedirect(a.StatusCode) {
		a.Body.Close()
		return nil, errors.New("it redirects, which Acquire::http::AllowRedirect forbids")
	}
	return a, err
}

// A proxies chooses the proxy for a URL.
type proxies struct {
	settings *settings
	rules    web.ProxyRules // from the environment
	err      error          // error in the environment

	mu    sync.Mutex
	given map[string]string // by host: sent by apt with a URI, or returned by the program of Proxy-Auto-Detect
}

func newProxies(s *settings) *proxies {
	p := &proxies{settings: s, given: map[string]string{}}
	p.rules, p.err = web.ProxiesFromEnvironment(os.Getenv)
	return p
}

// give records the proxy that apt sent for the host of u. An empty proxy is ignored.
func (p *proxies) give(u *url.URL, proxy string) {
	if proxy != "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.given[u.Scheme+"://"+u.Hostname()] = proxy
	}
}

// of returns the proxy for a URL, or nil.
func (p *proxies) of(u *url.URL) (*url.URL, error) {
	word, err := p.word(u)
	switch {
	case err != nil:
		return nil, err
	case strings.EqualFold(word, "DIRECT"):
		return nil, nil
	case word != "":
		proxy, err := web.ParseProxy(word)
		if err != nil {
			return nil, err
		}
		rules := web.OneProxy(proxy, p.rules.Except)
		return rules.For(u), nil
	case p.err != nil:
		return nil, p.err
	}
	return p.rules.For(u), nil
}

// word returns the proxy for a URL in apt's settings, or "".
func (p *proxies) word(u *url.URL) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := u.Scheme + "://" + u.Hostname()
	if word := p.given[at]; word != "" {
		return word, nil
	}
	if word := p.settings.option(u, "Proxy::"+u.Hostname()); word != "" {
		return word, nil
	}
	for _, name := range []string{"Proxy-Auto-Detect", "ProxyAutoDetect"} {
		program := p.settings.option(u, name)
		if program == "" {
			continue
		}
		word, err := detect(program, u)
		if word != "" || err != nil {
			p.given[at] = word
			return word, err
		}
	}
	return p.settings.option(u, "Proxy"), nil
}

// detect runs the program of Proxy-Auto-Detect. The output is a proxy, DIRECT, or nothing if the program knows no
// proxy.
func detect(program string, u *url.URL) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	out, err := exec.CommandContext(ctx, program, plain.String()).Output()
	if err != nil {
		return "", fmt.Errorf("Proxy-Auto-Detect: %s: %w", source.Escape(program), err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line), nil
}
