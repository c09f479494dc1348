package cli

import (
	"os"
	"os/signal"
)

// onStatusSignal returns a channel of the signals that request the progress, and a function that stops sending signals.
// Several signals before an answer get one answer. A command without progress ignores the channel.
func onStatusSignal() (asked <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 1)
	if len(statusSignals) > 0 { // without arguments Notify would relay all signals
		signal.Notify(signals, statusSignals...)
	}
	return signals, func() { signal.Stop(signals) }
}
