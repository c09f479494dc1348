// Package ports keeps the ports that tests listen at from all others. It must not be imported but by tests.
//
// A port that the system gave away is free again as soon as nobody listens at it: another process may have it a moment
// later, and a test whose server is to be dead, or to come back, meets a stranger there.
package ports

import (
	"io"
	"net"
)

// Listen listens at some port of an address of this machine. Nobody else gets that port before hold is closed, also
// when the listener has been closed: then connections are refused there, and the caller may listen again.
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
