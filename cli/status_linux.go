package cli

import (
	"os"
	"syscall"
)

// statusSignals are the signals that ask for the progress, as kill -USR1 does.
var statusSignals = []os.Signal{syscall.SIGUSR1}
