//go:build !linux

package ports

import (
	"io"
	"net"
)

// take returns port 0, which makes the system choose a port, and reserves nothing.
func take(ip string) (addr string, hold io.Closer, err error) {
	return net.JoinHostPort(ip, "0"), nothing{}, nil
}

type nothing struct{}

func (nothing) Close() error { return nil }
