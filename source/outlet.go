package source

import (
	"context"
	"net"
	"net/netip"
	"syscall"
)

// An Outlet says by which way connections leave this machine. The zero value leaves that to the system.
type Outlet struct {
	// Addr is the address that connections come from. Only servers of its family are reached.
	Addr netip.Addr
	// Device is the network interface that they use, whatever the routes say (socket(7), SO_BINDTODEVICE).
	Device string
}

// Apply makes a dialer use the outlet. It comes after the dialer has its ControlContext, which is called first.
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

// An OutletError says that a connection cannot leave by the device that it should.
type OutletError struct {
	Device string
	Err    error
}

func (e *OutletError) Error() string { return "interface " + e.Device + ": " + e.Err.Error() }

// Unwrap returns the error of the system.
func (e *OutletError) Unwrap() error { return e.Err }
