package ports

import (
	"fmt"
	"io"
	"net/netip"
	"os"
	"syscall"
)

// take binds a socket to a port without listening. On Linux, another socket may bind the same address if both have
// SO_REUSEADDR, which net.Listen sets. The system does not assign a bound port to sockets that ask for any port.
func take(ip string) (addr string, hold io.Closer, err error) {
	parsed, err := netip.ParseAddr(ip)
	if err != nil {
		return "", nil, err
	}
	family, at := syscall.AF_INET6, syscall.Sockaddr(&syscall.SockaddrInet6{Addr: parsed.As16()})
	if parsed.Is4() {
		family, at = syscall.AF_INET, &syscall.SockaddrInet4{Addr: parsed.As4()}
	}
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", nil, os.NewSyscallError("socket", err)
	}
	if err := bind(fd, at); err != nil {
		syscall.Close(fd)
		return "", nil, err
	}
	port, err := portOf(fd)
	if err != nil {
		syscall.Close(fd)
		return "", nil, err
	}
	return netip.AddrPortFrom(parsed, port).String(), held(fd), nil
}

func bind(fd int, at syscall.Sockaddr) error {
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	return os.NewSyscallError("bind", syscall.Bind(fd, at))
}

func portOf(fd int) (uint16, error) {
	at, err := syscall.Getsockname(fd)
	switch at := at.(type) {
	case *syscall.SockaddrInet4:
		return uint16(at.Port), nil
	case *syscall.SockaddrInet6:
		return uint16(at.Port), nil
	}
	return 0, fmt.Errorf("getsockname: %v, %w", at, err)
}

// held is a socket that reserves a port.
type held int

func (h held) Close() error { return syscall.Close(int(h)) }
