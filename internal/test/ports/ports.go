// Package ports reserves the ports that tests listen on. It must be imported only by tests.
//
// A port that the system assigned is free again as soon as its listener is closed. Another process may get it a moment
// later. A test whose server is dead or about to be revived would then connect to a foreign server.
package ports

import (
	"io"
	"net"
)

// Listen listens on a port of an address of this machine. No other process gets the port until hold is closed, even
// after the listener was closed. Meanwhile connections are refused, and the caller may listen again.
func Listen(ip string) (l net.Listener, hold io.Closer, err error) {
	addr, hold, err := take(ip)
	if err != nil {
		return nil, nil, err
	}
	if l, err = net.Listen("tcp", addr); err != nil {
		hold.Close()
		return nil, nil, err
	}
	return l, hold, nil
}
