package news

import (
	"syscall"
	"time"
)

// cpu is the time that this process has computed so far: other than the time of day it does not depend on what else the
// machine does.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
