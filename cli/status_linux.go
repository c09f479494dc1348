package cli

import (
	"os"
	"syscall"
)

// statusSignals ask how far the command is: kill -USR1.
var statusSignals = []os.Signal{syscall.SIGUSR1}
