package torrentsource

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"braid/address"
)

// A ways makes the connections of a swarm. It checks each address when it connects. Its connections are closed with the
// swarm.
type ways struct {
	ctx    context.Context // context of the swarm
	client *Client
	named  address.Scope

	refused atomic.Pointer[error] // error of the last refused address
	asked   atomic.Bool           // a tracker was asked

	mu     sync.Mutex
	met    []string // addresses of dialed peers, the latest last
	open   map[interface{ Close() error }]struct{}
	closed bool
}

// DialerNetwork implements dialer.T of the library.
func (w *ways) DialerNetwork() string { return "tcp" }

// mostMet is the maximum length of ways.met.
const mostMet = 50

// Dial connects to the peer at addr.
func (w *ways) Dial(ctx context.Context, addr string) (net.Conn, error) {
	w.mu.Lock()
	if !slices.Contains(w.met, addr) {
		w.met = append(w.met[max(0, len(w.met)+1-mostMet):], addr)
	}
	w.mu.Unlock()
	return w.dial(ctx, "tcp", addr, true)
}

// dialTracker connects to the tracker at addr.
func (w *ways) dialTracker(ctx context.Context, network, addr string) (net.Conn, error) {
	w.asked.Store(true)
	return w.dial(ctx, network, addr, false)
}

func (w *ways) dial(ctx context.Context, network, addr string, peer bool) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, w.client.connectTimeout())
	defer cancel()
	defer context.AfterFunc(w.ctx, cancel)()
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	policy := w.client.AllowHosts.Policy(host, w.named)
	dialer := net.Dialer{ControlContext: func(_ context.Context, _, to string, _ syscall.RawConn) error {
		return w.check(policy, to)
	}}
	conn, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c := &wire{Conn: conn, ways: w, peer: peer}
	if !w.hold(c) {
		conn.Close()
		return nil, net.ErrClosed
	}
	return c, nil
}

func (w *ways) check(policy address.Policy, addr string) error {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return err
	}
	if err = policy.Check(to.Addr()); err != nil {
		w.refused.Store(&err)
	}
	return err
}

// hold records c, to close it with the swarm. It returns false if the swarm is already closed.
func (w *ways) hold(c interface{ Close() error }) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	if w.open == nil {
		w.open = map[interface{ Close() error }]struct{}{}
	}
	w.open[c] = struct{}{}
	return true
}

func (w *ways) forget(c interface{ Close() error }) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, c)
}

// hangUp closes each connection to a peer that was open at the previous call and has received fewer bytes than least
// since then.
func (w *ways) hangUp(least int64) {
	w.mu.Lock()
	var idle []*wire
	for c := range w.open {
		c, ok := c.(*wire)
		if !ok || !c.peer {
			continue
		}
		if c.came.Swap(0) < least && c.known {
			idle = append(idle, c)
		}
		c.known = true
	}
	w.mu.Unlock()
	for _, c := range idle {
		c.Close()
	}
}

// close closes all connections.
func (w *ways) close() {
	w.mu.Lock()
	open := w.open
	w.open, w.closed = nil, true
	w.mu.Unlock()
	for c := range open {
		c.Close()
	}
}

// A wire is a connection to a peer or tracker.
type wire struct {
	net.Conn
	ways *ways
	peer bool         // otherwise it is to a tracker
	came atomic.Int64 // bytes read since the last call of hangUp

	known bool // the connection was open at the last call of hangUp; guarded by ways.mu
}

// Read counts the bytes for the client's limit.
func (c *wire) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.came.Add(int64(n))
	if pay := c.ways.client.Pay; pay != nil && n > 0 {
		if e := pay(c.ways.ctx, n); e != nil && err == nil {
			err = e
		}
	}
	return n, err
}

// SetDeadline returns nil even if the connection was closed with the swarm, because the library panics after an error.
// Read and Write return the error.
func (c *wire) SetDeadline(t time.Time) error {
	_ = c.Conn.SetDeadline(t)
	return nil
}

func (c *wire) Close() error {
	c.ways.forget(c)
	return c.Conn.Close()
}

// listenPacket opens a UDP socket for requests to trackers (BEP 15) or the distributed hash table.
func (w *ways) listenPacket(network, addr string) (net.PacketConn, error) {
	conn, err := net.ListenPacket(network, addr)
	if err != nil {
		return nil, err
	}
	p := &packets{PacketConn: conn, ways: w, policy: w.client.AllowHosts.Policy("", w.named)}
	if !w.hold(p) {
		conn.Close()
		return nil, net.ErrClosed
	}
	return p, nil
}

// A packets is a UDP socket that sends only to allowed addresses.
type packets struct {
	net.PacketConn
	ways   *ways
	policy address.Policy
}

// ReadFrom returns an error only once the socket is closed, because the library panics after any other error, such as a
// temporary failure of the network.
func (c *packets) ReadFrom(p []byte) (int, net.Addr, error) {
	for {
		n, from, err := c.PacketConn.ReadFrom(p)
		if err == nil || errors.Is(err, net.ErrClosed) {
			return n, from, err
		}
		select {
		case <-c.ways.ctx.Done():
			return n, from, net.ErrClosed
		case <-time.After(retryTime):
		}
	}
}

// retryTime is the pause between two attempts to read from a socket.
const retryTime = 100 * time.Millisecond

// WriteTo sends the packet p to an address, if that address is allowed.
func (c *packets) WriteTo(p []byte, to net.Addr) (int, error) {
	if err := c.ways.check(c.policy, to.String()); err != nil {
		return 0, err
	}
	return c.PacketConn.WriteTo(p, to)
}

func (c *packets) Close() error {
	c.ways.forget(c)
	return c.PacketConn.Close()
}
