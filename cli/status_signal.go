package cli

import (
	"os"
	"os/signal"
	"sync"
)

// onStatusSignal gives a channel that gets something when somebody asks how far the command is, by a signal. One who asks while
// nobody has answered yet gets one answer. The function ends it. A command that has nothing to tell lets it be; it goes on all the same.
func onStatusSignal() (asked <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 1)
	if len(statusSignals) > 0 { // without any, Notify would take all
		signal.Notify(signals, statusSignals...)
	}
	return signals, func() { signal.Stop(signals) }
}

// relay calls tell for each who asks, until the function that it returns is called.
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
