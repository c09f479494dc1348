//go:build unix

package watch

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic returns the time of CLOCK_MONOTONIC, which the service manager uses.
func monotonic() (time.Duration, error) {
	var now unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	return time.Duration(now.Nano()), err
}
