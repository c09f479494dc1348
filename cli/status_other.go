//go:build !linux && !darwin

package cli

import "os"

// statusSignals is empty, because this system has no signal to ask for the progress.
var statusSignals []os.Signal
