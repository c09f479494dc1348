//go:build !linux && !darwin

package cli

import "os"

// statusSignals is empty: the system has no signal that requests the progress.
var statusSignals []os.Signal
