package watch

import (
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"braid/antenna"
	"braid/internal/fence"
	"braid/internal/reach"
)

// A Transport makes the requests of an antenna, and none to where those may not lead who named a URL (rule 63): the user's URLs may lead
// anywhere, others to what is public, or as near as the server was that redirected there.
type Transport struct {
	base  *http.Transport
	typed map[string]bool
	hosts reach.Hosts

	mu sync.Mutex
	// from is where the servers were that redirected to a URL.
	from map[string]reach.Scope
}

const mostRedirects = 10_000 // that are remembered

// NewTransport makes a Transport for the URLs that the user configured. Hosts are connected to whoever names them.
func NewTransport(typed []string, hosts reach.Hosts) *Transport {
	t := &Transport{base: antenna.NewTransport(nil), typed: map[string]bool{}, hosts: hosts, from: map[string]reach.Scope{}}
	t.base.DialContext = (&net.Dialer{Timeout: 10 * time.Second, ControlContext: fence.Control}).DialContext
	for _, s := range typed {
		if u, err := url.Parse(s); err == nil {
			t.typed[plain(u)] = true
		}
	}
	return t
}

// plain is a URL as it is compared: without what is not sent.
func plain(u *url.URL) string {
	c := *u
	c.User, c.Fragment, c.RawFragment = nil, "", ""
	return c.String()
}

// RoundTrip makes a request.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	policy := t.policy(req.URL)
	if err := policy.CheckHost(req.URL.Hostname()); err != nil {
		return nil, err
	}
	proxy, err := t.base.Proxy(req)
	if err != nil {
		return nil, err
	}
	if proxy != nil { // it is the user who named it
		policy.Scope = reach.Anywhere
	}
	visit := fence.Begin(policy)
	resp, err := t.base.RoundTrip(req.WithContext(visit.Context(req.Context())))
	if err != nil {
		return nil, err
	}
	if to, err := req.URL.Parse(resp.Header.Get("Location")); err == nil && resp.Header.Get("Location") != "" {
		from := visit.From()
		if proxy != nil {
			from = reach.Public
		}
		t.redirected(to, from)
	}
	return resp, nil
}

// policy is where a request may lead.
func (t *Transport) policy(u *url.URL) reach.Policy {
	s := reach.Anywhere
	if key := plain(u); !t.typed[key] {
		t.mu.Lock()
		s = reach.Public | t.from[key]
		t.mu.Unlock()
	}
	return t.hosts.Policy(u.Hostname(), s)
}

func (t *Transport) redirected(to *url.URL, from reach.Scope) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.from) >= mostRedirects {
		clear(t.from)
	}
	t.from[plain(to)] = from
}

// Allow is for antenna.Antenna: it refuses addresses that whoever names them has no business with. Names are looked at when somebody
// connects to what they mean.
func (t *Transport) Allow(by, named *url.URL) error {
	t.mu.Lock()
	s := reach.Public | t.from[plain(named)] // if by redirects
	t.mu.Unlock()
	if by != nil {
		if near, ok := reach.OfHost(by.Hostname()); ok {
			s |= near
		}
	}
	return t.hosts.Policy(named.Hostname(), s).CheckHost(named.Hostname())
}

// CloseIdle closes connections that wait.
func (t *Transport) CloseIdle() { t.base.CloseIdleConnections() }
