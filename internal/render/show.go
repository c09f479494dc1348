package render

import (
	"os"
	"sync"
	"time"

	"braid/download"
	"braid/internal/mailbox"
)

// A moment is an event with its time: a [download.Event], the end of a download or a hook in a batch, or nil,
// which requests the progress.
type moment struct {
	at   time.Time
	ev   any
	file int // the number in a batch, from 1; 0 outside a batch
}

// head returns the first fields of the JSON object of an event.
func (m moment) head(event string) Head {
	h := NewHead(m.at, event)
	h.File = m.file
	return h
}

// outOfDate reports whether next makes last obsolete: both are events of progress of the same file.
func outOfDate(last, next moment) bool {
	_, a := last.ev.(download.Progress)
	_, b := next.ev.(download.Progress)
	_, c := last.ev.(download.Comparing)
	_, d := next.ev.(download.Comparing)
	return (a && b || c && d) && last.file == next.file
}

// show calls apply for each event that call puts and for each signal that requests the progress. All calls of
// apply are in one goroutine, which ends before show returns.
func show(asked <-chan os.Signal, apply func(moment), call func(put func(file int, ev any))) {
	events := mailbox.New(outOfDate)
	put := func(file int, ev any) { events.Put(moment{time.Now(), ev, file}) }
	var wg sync.WaitGroup
	wg.Go(func() {
		for m := range events.All() {
			apply(m)
		}
	})
	stop := relay(asked, func() { put(0, nil) })
	call(put)
	stop()
	events.Close()
	wg.Wait()
}

// relay calls tell for each signal until the returned function is called.
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
