package ports

import (
	"errors"
	"net"
	"syscall"
	"testing"
)

// While a port is held, nobody answers there but its owner, and nobody else gets it.
func TestListen(t *testing.T) {
	for _, ip := range []string{"127.0.0.1", "::1"} {
		l, hold, err := Listen(ip)
		if err != nil {
			t.Fatal(err)
		}
		defer hold.Close()
		addr := l.Addr().String()
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		l.Close()
		if _, err := net.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("%s, and nobody listens: %v", addr, err)
		}
		again, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		again.Close()
	}
}
