//go:build linux || darwin || freebsd

package mirrortest

import (
	"net"
	"syscall"
)

// gone says that the peer closed its end of c. It asks the kernel, which knows before any reader does: on
// loopback a close is seen here before whatever the peer does next.
func gone(c net.Conn, pending bool) bool {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return false
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return true
	}
	var n int
	var readErr error
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, readErr = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	switch {
	case err != nil:
		return true
	case readErr == syscall.EAGAIN || readErr == syscall.EINTR:
		return false
	case readErr != nil || n == 0:
		return true
	}
	return pending
}
