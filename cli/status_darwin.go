package cli

import (
	"os"
	"syscall"
)

// statusSignals ask how far the command is: kill -USR1, and Ctrl-T on a terminal.
var statusSignals = []os.Signal{syscall.SIGUSR1, syscall.SIGINFO}
