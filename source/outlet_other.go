//go:build !linux

package source

import "errors"

// bindToDevice returns an error, because sockets can be bound to devices only on Linux.
func bindToDevice(uintptr, string) error { return errors.ErrUnsupported }
