package limit

import (
	"context"
	"maps"
	"net/url"
	"sync"

	"braid/source"
)

// Hosts limits the bytes a second from each host, for all downloads that share it. The host is the host that sends the
// bytes, after redirects. Documents and signatures are not limited. The fields must not be changed after first use.
type Hosts struct {
	// Rate returns how many bytes a second the host of a URL may send. Zero means no limit.
	Rate func(*url.URL) int64
	// Share, if not nil, is called when bytes begin to come from a host (host:port). It sets l to this process's part
	// of perSecond, until end is called. perSecond is a limit for several processes together.
	Share func(host string, perSecond int64, l *Limiter) (end func())

	mu    sync.Mutex
	known map[string]*host // by host:port
}

type host struct {
	Limiter
	users int
	end   func() // result of Share; nil while no bytes come from the host
}

// mostHosts is the number of stored limits at which limits not in use are removed.
const mostHosts = 1000

// begin returns the limit for the host of u, from which a fetch begins to receive. l is nil if the host has no limit.
// The caller must call release, if not nil, at the end of the fetch.
func (h *Hosts) begin(u *url.URL) (l *Limiter, release func()) {
	if h == nil || u == nil {
		return nil, nil
	}
	perSecond := h.Rate(u)
	if perSecond <= 0 {
		return nil, nil
	}
	name := source.HostPort(u)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known == nil {
		h.known = map[string]*host{}
	}
	k := h.known[name]
	if k == nil {
		if len(h.known) >= mostHosts {
			maps.DeleteFunc(h.known, func(_ string, k *host) bool { return k.users == 0 })
		}
		k = &host{}
		h.known[name] = k
	}
	if k.users++; h.Share == nil {
		k.Set(perSecond)
	} else if k.end == nil {
		k.end = h.Share(name, perSecond, &k.Limiter)
	}
	return &k.Limiter, func() { h.release(k) }
}

func (h *Hosts) release(k *host) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if k.users--; k.users == 0 && k.end != nil {
		k.end()
		k.end = nil
	}
}

// Limited reports whether the host of u has a limit.
func (h *Hosts) Limited(u *url.URL) bool { return h != nil && h.Rate(u) > 0 }

// A Gate lets the bytes of one answer pass as fast as two limits allow: All, and the limit of the host that answers.
// All and Hosts may be nil.
type Gate struct {
	All   *Limiter
	Hosts *Hosts

	host    *Limiter
	release func()
}

// Answered finds the limit of the host of u, which answers. The caller must call Close at the end of the answer.
func (g *Gate) Answered(u *url.URL) { g.host, g.release = g.Hosts.begin(u) }

// Close releases the limit that Answered found.
func (g *Gate) Close() {
	if g.release != nil {
		g.release()
	}
}

// Wait waits for a turn of both limits, and returns how many of most bytes may pass.
func (g *Gate) Wait(ctx context.Context, most int) (n int, err error) {
	if n = most; g.host != nil {
		if n, err = g.host.Wait(ctx, n); err != nil {
			return 0, err
		}
	}
	switch {
	case g.All == nil:
		return n, nil
	case g.host == nil:
		return g.All.Wait(ctx, n)
	}
	return n, g.All.Pay(ctx, n)
}
