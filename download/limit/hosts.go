package limit

import (
	"context"
	"maps"
	"net/url"
	"sync"

	"braid/source"
)

// Hosts limits the bytes a second from each host, for all downloads that share it. The host is the one that sends,
// after redirects. Documents and signatures do not count. The fields must not be changed after first use.
type Hosts struct {
	// Rate returns how many bytes a second the host of a URL may send. Zero means no limit.
	Rate func(*url.URL) int64
	// Share, if not nil, keeps l at this process's part of perSecond, which several processes together must not exceed.
	// end is called when no more bytes come from the host (host:port).
	Share func(host string, perSecond int64, l *Limiter) (end func())

	mu    sync.Mutex
	known map[string]*host // by host:port
}

type host struct {
	Limiter
	users int
	end   func() // of Share; nil while nothing comes from the host
}

// mostHosts is how many limits are kept before those that are not in use are dropped.
const mostHosts = 1000

// begin returns the limit for the host of u, which begins to send. It is nil if the host has no limit. The caller must
// call release, if not nil, when the host has stopped sending.
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

// Limited reports whether the host of a URL has a limit.
func (h *Hosts) Limited(u *url.URL) bool { return h != nil && h.Rate(u) > 0 }

// A Gate lets the bytes of one answer pass as fast as two limits allow: All, and that of the host that answers.
// Either may be nil.
type Gate struct {
	All   *Limiter
	Hosts *Hosts

	host    *Limiter
	release func()
}

// Answered finds the limit of the host that answers, which is that of u. The caller must call Close when the
// answer is over.
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
