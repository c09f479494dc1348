package httpsource

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

// names is a DNS server for a test. Each query for a name gets the next of its lists of addresses, and the last list
// from then on.
type names struct {
	mu    sync.Mutex
	lists map[string][][]string
}

// resolver returns a resolver that queries n through pipes, without a network.
func (n *names) resolver(t *testing.T) *net.Resolver {
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		serving.Go(func() {
			defer ours.Close()
			n.serve(ours)
		})
		return theirs, nil
	}}
}

// serve answers queries that have a length before them, as over TCP (RFC 1035, section 4.2.2).
func (n *names) serve(c io.ReadWriter) {
	for {
		var size [2]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		q := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(c, q); err != nil {
			return
		}
		a := n.answer(q)
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(a))), a...)); err != nil {
			return
		}
	}
}

// answer returns the response to a query: its header (section 4.1.1), the question, and a record for each address.
func (n *names) answer(q []byte) []byte {
	end := 12
	var labels []string
	for q[end] != 0 {
		labels = append(labels, string(q[end+1:end+1+int(q[end])]))
		end += 1 + int(q[end])
	}
	end += 5
	kind := q[end-3]
	addrs := n.next(strings.Join(labels, "."), kind)
	a := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, byte(len(addrs)), 0, 0, 0, 0}, q[12:end]...)
	for _, ip := range addrs {
		a = append(a, 0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 0, 0, byte(len(ip))) // name of the question, class IN, TTL 0
		a = append(a, ip...)
	}
	return a
}

// next returns the addresses of a name of the type kind: A (1) or AAAA (28). A query for A selects the next list.
func (n *names) next(name string, kind byte) (addrs [][]byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	lists := n.lists[name]
	if len(lists) == 0 {
		return nil
	}
	for _, word := range lists[0] {
		if ip := netip.MustParseAddr(word); kind == 1 && ip.Is4() || kind == 28 && ip.Is6() {
			addrs = append(addrs, ip.AsSlice())
		}
	}
	if kind == 1 && len(lists) > 1 {
		n.lists[name] = lists[1:]
	}
	return addrs
}
