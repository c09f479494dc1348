//go:build !linux

package ports

import (
	"io"
	"net"
)

// take leaves the choice to whoever listens, and keeps nothing.
func take(ip string) (addr string, hold io.Closer, err error) {
	return net.JoinHostPort(ip, "0"), nothing{}, nil
}

type nothing struct{}

func (nothing) Close() error { return nil }
