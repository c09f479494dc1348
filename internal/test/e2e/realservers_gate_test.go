//go:build realservers

package e2e

import (
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// A gate stands at relays before servers that have one file. None of those that belong together sends much before each
// of them has sent something: that all are made use of does not depend on how late one of them is on a busy machine.
type gate struct {
	mu   sync.Mutex
	sent map[string]int64 // by the address of those that belong together
	open chan struct{}    // closed when each has sent something
}

const (
	gateLeast = 256 << 10 // what each has to send
	gateFree  = 1 << 20   // what one may send before
)

// relay starts a relay before a server, which tells also of what it sends.
func (g *gate) relay(t testing.TB, backend string, also func(int64)) (addr string) {
	t.Helper()
	var r *relay
	named := make(chan struct{})
	r = newRelay(t, backend, func(n int64) {
		also(n)
		<-named
		g.pass(r.addr, n)
	})
	close(named)
	t.Cleanup(func() { g.together() })
	return r.addr
}

// together says which relays belong together from now on, as for the next download.
func (g *gate) together(addrs ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open != nil {
		close(g.open)
	}
	g.sent, g.open = map[string]int64{}, nil
	for _, addr := range addrs {
		g.sent[addr], g.open = 0, make(chan struct{})
	}
}

// pass takes down what a relay has sent, and waits for the others if that is much.
func (g *gate) pass(addr string, n int64) {
	g.mu.Lock()
	open, shut := g.open, false
	if _, ok := g.sent[addr]; ok && open != nil {
		g.sent[addr] += n
		shut = g.sent[addr] >= gateFree
		if g.allSent() {
			close(open)
			g.open, shut = nil, false
		}
	}
	g.mu.Unlock()
	if shut {
		<-open
	}
}

func (g *gate) allSent() bool {
	for _, n := range g.sent {
		if n < gateLeast {
			return false
		}
	}
	return true
}

// gateKey is where a script's environment keeps its gate.
type gateKey struct{}

// belongTogether is "together NAME...": none of these servers, which were started with the word "gated", sends much of
// the next file before each has sent something.
func belongTogether(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: together NAME NAME...")
	}
	var addrs []string
	for _, name := range args {
		addrs = append(addrs, ts.Getenv(name+"_HOST"))
	}
	ts.Value(gateKey{}).(*gate).together(addrs...)
}
