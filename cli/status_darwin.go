package cli

import (
	"os"
	"syscall"
)

// statusSignals request the progress: kill -USR1, and Ctrl-T on a terminal.
var statusSignals = []os.Signal{syscall.SIGUSR1, syscall.SIGINFO}
