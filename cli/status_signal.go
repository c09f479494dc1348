package cli

import (
	"os"
	"os/signal"
)

// onStatusSignal returns a channel that receives the signals that ask for the progress, and a function that ends that.
// Signals that arrive before the progress is shown are answered together. A command may ignore the channel.
func onStatusSignal() (asked <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 1)
	if len(statusSignals) > 0 { // without arguments Notify would relay all signals
		signal.Notify(signals, statusSignals...)
	}
	return signals, func() { signal.Stop(signals) }
}
