package torrentsource

import (
	"net"
	"net/url"
	"sync"
)

// usable returns the trackers in tiers whose URLs the library parses without change and that have no user name. For
// other URLs, the library would panic.
func usable(tiers [][]string) (list [][]string) {
	for _, tier := range tiers {
		var kept []string
		for _, s := range tier {
			u, err := url.Parse(s)
			if err != nil || u.User != nil {
				continue
			}
			if again, err := url.Parse(u.String()); err == nil && again.String() == u.String() {
				kept = append(kept, u.String())
			}
		}
		if len(kept) > 0 {
			list = append(list, kept)
		}
	}
	return list
}

// listenTracker opens a socket for requests to a tracker over UDP (BEP 15). If that fails, as for IPv6 on a machine
// without IPv6, it returns a socket whose requests fail, because the library would panic after an error.
func (w *ways) listenTracker(network, addr string) (net.PacketConn, error) {
	w.asked.Store(true)
	conn, err := w.listenPacket(network, addr)
	if err != nil {
		return noPackets{err: err}, nil
	}
	return &questions{PacketConn: conn, open: map[[4]byte]bool{}}, nil
}

// A questions is a socket for requests to a tracker. The library waits 15 s for an answer even after the socket was
// closed. So ReadFrom then answers each open request with an error.
type questions struct {
	net.PacketConn
	mu   sync.Mutex
	open map[[4]byte]bool // by transaction ID
}

// WriteTo sends p, a request. The transaction ID follows the connection ID and the action.
func (c *questions) WriteTo(p []byte, to net.Addr) (int, error) {
	if len(p) >= 16 {
		c.mu.Lock()
		c.open[[4]byte(p[12:16])] = true
		c.mu.Unlock()
	}
	return c.PacketConn.WriteTo(p, to)
}

// ReadFrom reads an answer into p. The transaction ID follows the action. failed is the action of an error.
func (c *questions) ReadFrom(p []byte) (int, net.Addr, error) {
	const failed = "\x00\x00\x00\x03"
	n, from, err := c.PacketConn.ReadFrom(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		if n >= 8 {
			delete(c.open, [4]byte(p[4:8]))
		}
		return n, from, nil
	}
	for question := range c.open {
		delete(c.open, question)
		return copy(p, failed+string(question[:])), &net.UDPAddr{}, nil
	}
	return n, from, err
}

// A noPackets is a socket that could not be opened.
type noPackets struct {
	net.PacketConn
	err error
}

func (c noPackets) ReadFrom([]byte) (int, net.Addr, error) { return 0, nil, c.err }
func (c noPackets) WriteTo([]byte, net.Addr) (int, error)  { return 0, c.err }
func (c noPackets) LocalAddr() net.Addr                    { return &net.UDPAddr{} }
func (c noPackets) Close() error                           { return nil }
