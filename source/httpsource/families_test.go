package httpsource

import (
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
)

// TestBothFamilies checks that a server with an IPv6 and an IPv4 address is reached through the one that works: at once
// if the other refuses the connection, and soon if it does not respond (RFC 8305).
func TestBothFamilies(t *testing.T) {
	s := mirrortest.New(t, file)
	dns := &names{lists: map[string][][]string{"both.example": {{"::1", "127.0.0.1"}}}}
	for _, name := range []string{"refused", "silent"} {
		if name == "silent" {
			silence(t, s.Addr)
		}
		c := newClient(t)
		c.Resolver = dns.resolver(t)
		c.ConnectTimeout = time.Hour // the test would wait this long for the silent address
		k := mustFetch(t, c, at(t, s, "both.example"), Options{}, part(0, 10))
		k.Has(file, part(0, 10))
	}
}

// silence makes the port of addr at ::1 silent: it fills the queue of a listener that accepts no connection.
func silence(t *testing.T, addr string) {
	t.Helper()
	_, word, _ := net.SplitHostPort(addr)
	port, _ := strconv.Atoi(word)
	fd, err := syscall.Socket(syscall.AF_INET6, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet6{Port: port, Addr: [16]byte{15: 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		c, err := net.DialTimeout("tcp6", net.JoinHostPort("::1", word), 2*time.Second)
		if err != nil {
			return
		}
		t.Cleanup(func() { c.Close() })
	}
	t.Fatal("the queue takes everybody")
}
