//go:build !linux

package source

import "errors"

// bindToDevice: addresses can be bound everywhere, devices on Linux.
func bindToDevice(uintptr, string) error { return errors.ErrUnsupported }
