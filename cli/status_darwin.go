package cli

import (
	"os"
	"syscall"
)

// statusSignals are the signals that ask for the progress: from kill -USR1, and from Ctrl-T on a terminal.
var statusSignals = []os.Signal{syscall.SIGUSR1, syscall.SIGINFO}
