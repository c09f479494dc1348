//go:build !unix

package watch

import (
	"errors"
	"time"
)

// monotonic has no such clock here, and no service manager that would ask.
func monotonic() (time.Duration, error) { return 0, errors.ErrUnsupported }
