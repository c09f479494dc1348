package web

import (
	"context"
	"maps"
	"net/url"
	"sync"

	"braid/address"
)

// A Tally counts requests by host (host:port). A nil Tally counts nothing. It may be used concurrently.
type Tally struct {
	mu    sync.Mutex
	sent  map[string]int
	outer *Tally
}

type tallyKey struct{}

// Context returns ctx with t. t counts the requests that have the returned context.
func (t *Tally) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, tallyKey{}, t)
}

// TallyOf returns the Tally of a context, or nil.
func TallyOf(ctx context.Context) *Tally {
	t, _ := ctx.Value(tallyKey{}).(*Tally)
	return t
}

// Within makes outer also count the requests that t counts from now on. It replaces the outer Tally of an earlier call.
func (t *Tally) Within(outer *Tally) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.outer = outer
}

// Add counts a request to u.
func (t *Tally) Add(u *url.URL) {
	if t == nil {
		return
	}
	t.mu.Lock()
	if t.sent == nil {
		t.sent = map[string]int{}
	}
	t.sent[address.HostPort(u)]++
	outer := t.outer
	t.mu.Unlock()
	outer.Add(u)
}

// AddAll adds sent, the numbers of requests of another process by host.
func (t *Tally) AddAll(sent map[string]int) {
	if t == nil || len(sent) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sent == nil {
		t.sent = map[string]int{}
	}
	for host, n := range sent {
		t.sent[host] += n
	}
}

// Sent returns the number of requests to each host.
func (t *Tally) Sent() map[string]int {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.sent)
}
