package torrentsource

import (
	"net"
	"net/url"
)

// usable are the trackers that the library can ask, as it writes their URLs itself. It ends the program for others, and for one with a user name.
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

// listenTracker opens a socket for questions to a tracker over UDP (BEP 15). Where there is none, as for IPv6 on a machine without it, the
// questions fail: the library ends the program for an error here.
func (w *ways) listenTracker(network, addr string) (net.PacketConn, error) {
	conn, err := w.listenPacket(network, addr)
	if err != nil {
		return noPackets{err: err}, nil
	}
	return conn, nil
}

// noPackets is a socket that could not be opened.
type noPackets struct {
	net.PacketConn
	err error
}

func (c noPackets) ReadFrom([]byte) (int, net.Addr, error) { return 0, nil, c.err }
func (c noPackets) WriteTo([]byte, net.Addr) (int, error)  { return 0, c.err }
func (c noPackets) LocalAddr() net.Addr                    { return &net.UDPAddr{} }
func (c noPackets) Close() error                           { return nil }
