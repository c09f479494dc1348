package httpsource

import (
	"context"
	"net/http"
	"net/url"

	"braid/address"
	"braid/internal/fence"
)

// A way is how one request goes out: through which proxy, if any, and to where it may lead (rule 63).
type way struct {
	host   string
	proxy  *url.URL // if known
	known  bool     // whether there is a proxy
	direct bool
	visit  *fence.Visit
}

// way finds the way of a request that may lead to s. An address in the URL is checked here, and a name that is never public if
// a proxy or a Transport of the user's connects, which are out of sight; else the addresses are checked that a name turns out to have. The
// error is a *address.Error.
func (c *Client) way(req *http.Request, s address.Scope) (*way, error) {
	w := &way{host: req.URL.Hostname()}
	policy := c.AllowHosts.Policy(w.host, s)
	if err := policy.CheckHost(w.host); err != nil {
		return nil, err
	}
	var err error // which the transport will meet, too
	w.proxy, err = c.proxy(req)
	w.known, w.direct = err == nil, w.proxy == nil && err == nil
	if w.proxy != nil || c.Transport != nil {
		if err := policy.CheckProxied(w.host); err != nil {
			return nil, err
		}
	}
	if w.proxy != nil {
		policy.Scope = address.Anywhere // it is the user who named the proxy
	}
	w.visit = fence.Begin(policy)
	return w, nil
}

type wayKey struct{}

// context is ctx for the request. The proxy is chosen once: the check must be of the way that is taken.
func (w *way) context(ctx context.Context) context.Context {
	if w.known {
		ctx = context.WithValue(ctx, wayKey{}, w.proxy)
	}
	return w.visit.Context(ctx)
}

// from is where the server is that answered. One whose connection is out of sight is taken for public, unless its host tells
// something else.
func (w *way) from() address.Scope {
	if s := w.visit.From(); w.direct && s != 0 {
		return s
	}
	if s, ok := address.OfHost(w.host); ok {
		return s
	}
	return address.Public
}

// proxied reports whether a connection is dialed for a request that goes through a proxy.
func proxied(ctx context.Context) bool {
	p, ok := ctx.Value(wayKey{}).(*url.URL)
	return ok && p != nil
}
