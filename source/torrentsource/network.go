package torrentsource

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"braid/address"
)

// Ways are how a swarm reaches others: each connection is checked when it is made, and ends with the swarm.
type ways struct {
	ctx    context.Context // of the swarm
	client *Client
	named  address.Scope

	refused atomic.Pointer[error] // the last address that was not connected to

	mu     sync.Mutex
	open   map[interface{ Close() error }]struct{}
	closed bool
}

// DialerNetwork implements dialer.T of the library.
func (w *ways) DialerNetwork() string { return "tcp" }

// Dial connects to a peer.
func (w *ways) Dial(ctx context.Context, addr string) (net.Conn, error) {
	return w.dialTracker(ctx, "tcp", addr)
}

// dialTracker connects to a tracker.
func (w *ways) dialTracker(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := w.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return conn, nil
}

func (w *ways) dial(ctx context.Context, network, addr string) (*wire, error) {
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
	c := &wire{Conn: conn, ways: w}
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

// hold remembers what has to be closed with the swarm, unless that is over.
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

// close ends all connections.
func (w *ways) close() {
	w.mu.Lock()
	open := w.open
	w.open, w.closed = nil, true
	w.mu.Unlock()
	for c := range open {
		c.Close()
	}
}

// A wire is a connection.
type wire struct {
	net.Conn
	ways *ways
}

// Read pays for what it reads, together with all that share the limit.
func (c *wire) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if pay := c.ways.client.Pay; pay != nil && n > 0 {
		if e := pay(c.ways.ctx, n); e != nil && err == nil {
			err = e
		}
	}
	return n, err
}

// SetDeadline reports no error of a connection that was closed with the swarm, of which reads and writes tell: the
// library ends the program for it.
func (c *wire) SetDeadline(t time.Time) error {
	_ = c.Conn.SetDeadline(t)
	return nil
}

func (c *wire) Close() error {
	c.ways.forget(c)
	return c.Conn.Close()
}

// listenPacket opens a socket for questions over UDP: to trackers (BEP 15) and to the distributed hash table.
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

// Packets are a socket that sends to where it may only.
type packets struct {
	net.PacketConn
	ways   *ways
	policy address.Policy
}

// ReadFrom ends when the socket is closed and not before: the library ends the program for other errors, such as that
// of a network that is down for a moment.
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

// retryTime is the time between two attempts to read from a socket.
const retryTime = 100 * time.Millisecond

// WriteTo sends where it may.
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
