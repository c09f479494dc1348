//go:build !unix

package watch

import (
	"errors"
	"time"
)

// monotonic returns errors.ErrUnsupported, because systems other than Unix have neither the clock CLOCK_MONOTONIC nor a
// service manager that needs it.
func monotonic() (time.Duration, error) { return 0, errors.ErrUnsupported }
