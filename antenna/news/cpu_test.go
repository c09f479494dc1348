package news

import (
	"syscall"
	"time"
)

// cpu returns the CPU time of this process. Unlike the time of day, it does not depend on other processes.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
