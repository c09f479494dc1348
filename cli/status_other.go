//go:build !linux && !darwin

package cli

import "os"

// statusSignals ask how far the command is: there is no such signal.
var statusSignals []os.Signal
