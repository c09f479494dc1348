//go:build linux || darwin || freebsd

package mirrortest

import (
	"net"
	"syscall"
)

// gone reports whether the peer has closed its end of c. It asks the kernel, which knows it before any reader does: on
// loopback, a close is visible here before the next action of the peer.
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
