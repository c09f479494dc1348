// Package pipes has a listener for connections in memory, which also works in the virtual time of testing/synctest.
package pipes

import (
	"context"
	"net"
)

// A Listener accepts the connections that are sent to it. It is made as a channel, and must be closed once.
type Listener chan net.Conn

// Dial returns one end of a connection, and sends the other to l. It ignores the address.
func (l Listener) Dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	l <- theirs
	return ours, nil
}

// Accept implements net.Listener.
func (l Listener) Accept() (net.Conn, error) {
	if c, ok := <-l; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

// Close implements net.Listener.
func (l Listener) Close() error {
	close(l)
	return nil
}

// Addr implements net.Listener.
func (Listener) Addr() net.Addr { return &net.TCPAddr{} }
