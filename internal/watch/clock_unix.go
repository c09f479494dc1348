//go:build unix

package watch

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic is the time of the clock that the service manager compares with.
func monotonic() (time.Duration, error) {
	var now unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	return time.Duration(now.Nano()), err
}
