//go:build !linux

package fsys

import "errors"

// Guard returns errors.ErrUnsupported: this system does not report what other programs do to a file.
func (f osFile) Guard() (Guard, error) { return nil, errors.ErrUnsupported }
