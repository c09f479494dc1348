package source

import (
	"context"
	"net"
	"net/netip"
	"syscall"
)

// An Outlet selects how connections leave this machine. With the zero value the system decides.
type Outlet struct {
	// Addr is the local address of connections. Only servers of the same address family can be reached.
	Addr netip.Addr
	// Device is the network interface of connections, regardless of routes (socket(7), SO_BINDTODEVICE).
	Device string
}

// Apply makes d use the outlet. If d has a ControlContext, it must be set before Apply is called. Apply keeps it, and
// it is called first.
func (o Outlet) Apply(d *net.Dialer) {
	if o.Addr.IsValid() {
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(o.Addr, 0))
	}
	if o.Device == "" {
		return
	}
	before := d.ControlContext
	d.ControlContext = func(ctx context.Context, network, address string, c syscall.RawConn) error {
		if before != nil {
			if err := before(ctx, network, address, c); err != nil {
				return err
			}
		}
		var bind error
		err := c.Control(func(fd uintptr) {
			bind = bindToDevice(fd, o.Device)
		})
		if err == nil && bind != nil {
			err = &OutletError{o.Device, bind}
		}
		return err
	}
}

// An OutletError reports that a connection could not be bound to the network interface Device.
type OutletError struct {
	Device string
	Err    error
}

func (e *OutletError) Error() string { return "interface " + e.Device + ": " + e.Err.Error() }

// Unwrap returns the error of the system.
func (e *OutletError) Unwrap() error { return e.Err }
