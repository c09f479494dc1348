package antenna

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"braid/address"
	"braid/internal/fence"
	"braid/internal/web"
)

const (
	connectTimeout = 10 * time.Second
	// silence is how long there may be no byte (rules 21 and 52).
	silence = 30 * time.Second
	// maxHead bounds the header section of an answer (rule 20).
	maxHead = 256 << 10
)

// A transports is what is asked through: connections for servers that TLS is configured for, and those for all others.
type transports struct {
	others *http.Transport
	own    map[string]*http.Transport // by "host:port" or "host"
}

func newTransports(others *tls.Config, own map[string]*tls.Config) *transports {
	t := &transports{others: newTransport(others), own: map[string]*http.Transport{}}
	for server, config := range own {
		t.own[server] = newTransport(config)
	}
	return t
}

func (t *transports) RoundTrip(req *http.Request) (*http.Response, error) {
	server := hostPort(req.URL)
	host, _, _ := net.SplitHostPort(server)
	for _, name := range []string{server, host} {
		if own := t.own[name]; own != nil {
			return own.RoundTrip(req)
		}
	}
	return t.others.RoundTrip(req)
}

func (t *transports) closeIdle() {
	t.others.CloseIdleConnections()
	for _, own := range t.own {
		own.CloseIdleConnections()
	}
}

// newTransport makes connections: HTTP/1.1 without the habits of net/http that are wrong here.
func newTransport(config *tls.Config) *http.Transport {
	dialer := &net.Dialer{Timeout: connectTimeout, ControlContext: fence.Control}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  chosenProxy,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        config.Clone(), // of nil it is nil
		TLSHandshakeTimeout:    connectTimeout,
		Protocols:              protocols,
		DisableCompression:     true, // bodies are bounded where they are decoded
		MaxResponseHeaderBytes: maxHead,
		ResponseHeaderTimeout:  silence,
		// Polls of a host are minutes apart. What waits is for redirects and for hosts with many feeds.
		MaxIdleConns:        32,
		MaxIdleConnsPerHost: 1,
		IdleConnTimeout:     15 * time.Second,
	}
}

// A way is how one request goes out, and to where it may lead (rule 63).
type way struct {
	host  string
	proxy *url.URL
	visit *fence.Visit
}

// environment is how proxies are chosen by what the variables for them say now.
func environment() func(*url.URL) (*url.URL, error) {
	rules, err := web.ProxiesFromEnvironment(os.Getenv)
	return func(u *url.URL) (*url.URL, error) { return rules.For(u), err }
}

type proxyKey struct{}

// chosenProxy is the proxy that the way of a request was found with.
func chosenProxy(req *http.Request) (*url.URL, error) {
	proxy, _ := req.Context().Value(proxyKey{}).(*url.URL)
	return proxy, nil
}

// wayOf finds the way of a task, as httpsource.Client.way does of a request. The error is a *address.Error.
func (p *poller) wayOf(t *task, req *http.Request) (w way, err error) {
	w.host = req.URL.Hostname()
	policy := p.hosts.Policy(w.host, cmp.Or(t.named, address.Anywhere))
	if err := policy.CheckHost(w.host); err != nil {
		return w, err
	}
	if p.proxy != nil {
		if w.proxy, err = p.proxy(req.URL); err != nil {
			return w, err
		}
	}
	if w.proxy != nil {
		if err := policy.CheckProxied(w.host); err != nil {
			return w, err
		}
		policy.Scope = address.Anywhere // it is the user who named the proxy
	}
	w.visit = fence.Begin(policy)
	return w, nil
}

// context is ctx for the request.
func (w *way) context(ctx context.Context) context.Context {
	if w.proxy != nil {
		ctx = context.WithValue(ctx, proxyKey{}, w.proxy)
	}
	return w.visit.Context(ctx)
}

// from is where the server is that answered. One behind a proxy is taken for public, unless its host tells something else.
func (w *way) from() address.Scope {
	if s := w.visit.From(); w.proxy == nil && s != 0 {
		return s
	}
	if s, ok := address.OfHost(w.host); ok {
		return s
	}
	return address.Public
}

// typed returns the hosts that the user named: those of AllowHosts, and addresses in the URLs of feeds and watches.
func (a *Antenna) typed() (address.Hosts, error) {
	hosts := a.AllowHosts.Clone()
	var urls []string
	for _, f := range a.Feeds {
		if !f.Local {
			urls = append(urls, f.URL)
		}
	}
	for _, w := range a.Watches {
		urls = append(urls, w.URL)
	}
	for _, s := range urls {
		u, err := url.Parse(s)
		if err != nil {
			continue // which is said elsewhere
		}
		if _, ok := address.ParseHost(u.Hostname()); ok {
			if err := hosts.Add(u.Hostname()); err != nil {
				return hosts, err
			}
		}
	}
	return hosts, nil
}
