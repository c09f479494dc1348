//go:build !linux && !darwin

package cli

import "os"

// statusSignals is empty, because the system has no signal for requesting the progress.
var statusSignals []os.Signal
