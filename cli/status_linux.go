package cli

import (
	"os"
	"syscall"
)

// statusSignals request the progress: kill -USR1.
var statusSignals = []os.Signal{syscall.SIGUSR1}
