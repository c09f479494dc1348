//go:build !linux

package fsys

import "errors"

// Guard: this system does not tell what others do to a file.
func (f osFile) Guard() (Guard, error) { return nil, errors.ErrUnsupported }
