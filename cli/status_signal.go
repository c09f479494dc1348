package cli

import (
	"os"
	"os/signal"
	"sync"
)

// onStatusSignal returns a channel for the signals that ask how far the command is, and a function that ends it.
// Several signals before an answer get one answer. A command that has none ignores the channel, and goes on all the
// same.
func onStatusSignal() (asked <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 1)
	if len(statusSignals) > 0 { // without any, Notify would take all
		signal.Notify(signals, statusSignals...)
	}
	return signals, func() { signal.Stop(signals) }
}

// relay calls tell for each signal, until the function that it returns is called.
func relay(asked <-chan os.Signal, tell func()) (stop func()) {
	stopped := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-asked:
				tell()
			case <-stopped:
				return
			}
		}
	})
	return func() {
		close(stopped)
		wg.Wait()
	}
}
