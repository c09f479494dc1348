package download

import (
	"context"
	"maps"
	"net/url"
	"sync"

	"braid/source"
)

// HostLimits limit the bytes a second from one host, for all downloads that share them. The host is the one
// that sends, after redirects. Documents and signatures from it do not count. The fields must not be changed
// after first use.
type HostLimits struct {
	// Rate returns how many bytes a second the host of a URL may send. Zero means no limit.
	Rate func(*url.URL) int64
	// Share, if not nil, keeps l at this process's part of perSecond, which several processes together must
	// not exceed, until end is called: nothing comes from the host (host:port) any more.
	Share func(host string, perSecond int64, l *Limiter) (end func())

	mu    sync.Mutex
	known map[string]*hostLimit // by host:port
}

type hostLimit struct {
	Limiter
	users int
	end   func() // of Share; nil while nothing comes from the host
}

// mostHosts is how many limits are kept before those that are not in use are dropped.
const mostHosts = 1000

// begin returns the limit for the host of u, which begins to send, or nil without a limit. The caller must
// call release when it has ended.
func (h *HostLimits) begin(u *url.URL) (l *Limiter, release func()) {
	if h == nil || u == nil {
		return nil, nil
	}
	perSecond := h.Rate(u)
	if perSecond <= 0 {
		return nil, nil
	}
	host := source.HostPort(u)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known == nil {
		h.known = map[string]*hostLimit{}
	}
	k := h.known[host]
	if k == nil {
		if len(h.known) >= mostHosts {
			maps.DeleteFunc(h.known, func(_ string, k *hostLimit) bool { return k.users == 0 })
		}
		k = &hostLimit{}
		h.known[host] = k
	}
	if k.users++; h.Share == nil {
		k.Set(perSecond)
	} else if k.end == nil {
		k.end = h.Share(host, perSecond, &k.Limiter)
	}
	return &k.Limiter, func() { h.release(k) }
}

func (h *HostLimits) release(k *hostLimit) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if k.users--; k.users == 0 && k.end != nil {
		k.end()
		k.end = nil
	}
}

// limited reports whether the host of a URL has a limit.
func (h *HostLimits) limited(u *url.URL) bool { return h != nil && h.Rate(u) > 0 }

// A throttle is a sink that takes bytes only as fast as limits allow. TCP slows the source down.
type throttle struct {
	*sink
	ctx     context.Context
	limit   *Limiter // of all sources; may be nil
	hosts   *HostLimits
	host    *Limiter // of the one that answered; may be nil
	release func()
}

// Answer finds the limit of the host that answers.
func (t *throttle) Answer(a source.Answer) error {
	err := t.sink.Answer(a)
	if err == nil {
		t.host, t.release = t.hosts.begin(a.URL)
	}
	return err
}

// end releases the limit that Answer found.
func (t *throttle) end() {
	if t.release != nil {
		t.release()
	}
}

// WriteAt writes p in small parts.
func (t *throttle) WriteAt(p []byte, off int64) (n int, err error) {
	for len(p) > 0 {
		if t.sink.limit.Load() <= off {
			return n, source.ErrEnough
		}
		part, err := t.wait(len(p))
		if err != nil {
			return n, err
		}
		k, err := t.sink.WriteAt(p[:part], off)
		n, off = n+k, off+int64(k)
		if err != nil {
			return n, err
		}
		p = p[k:]
	}
	return n, nil
}

// wait waits for a turn of both limits, and returns how many of most bytes may pass.
func (t *throttle) wait(most int) (n int, err error) {
	if n = most; t.host != nil {
		if n, err = t.host.wait(t.ctx, n); err != nil {
			return 0, err
		}
	}
	switch {
	case t.limit == nil:
		return n, nil
	case t.host == nil:
		return t.limit.wait(t.ctx, n)
	}
	return n, t.limit.pay(t.ctx, n)
}
