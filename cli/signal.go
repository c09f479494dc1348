package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// A signalError is why a context ended: the user or the system wants the command to end.
type signalError struct{ signal syscall.Signal }

func (e *signalError) Error() string {
	if e.signal == syscall.SIGTERM {
		return "terminated"
	}
	return "interrupted"
}

// Is reports whether this is a cancellation like any other.
func (e *signalError) Is(target error) bool { return target == context.Canceled }

// code is what shells report for a command that the signal killed.
func (e *signalError) code() int { return exitSignal + int(e.signal) }

// signalOf returns the signal that ended the context of a command; nil if none did.
func signalOf(ctx context.Context) *signalError {
	e, _ := errors.AsType[*signalError](context.Cause(ctx))
	return e
}

// signalCode is the exit code of a command whose context ended by a signal.
func signalCode(ctx context.Context) (code int, ok bool) {
	if e := signalOf(ctx); e != nil {
		return e.code(), true
	}
	return 0, false
}

// endedBySignal reports whether a context ended by a signal.
func endedBySignal(ctx context.Context) bool { return signalOf(ctx) != nil }

// A timeUpError is why a context ended: --max-time is over.
type timeUpError struct{ limit time.Duration }

func (e *timeUpError) Error() string { return "not done within " + timeText(e.limit) }

// Is reports whether this is a cancellation like any other.
func (e *timeUpError) Is(target error) bool { return target == context.Canceled }

// within gives a context that ends after a time, if that is more than zero. The function ends it at once.
func within(parent context.Context, limit time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	if limit <= 0 {
		return ctx, func() { cancel(nil) }
	}
	timer := time.AfterFunc(limit, func() { cancel(&timeUpError{limit}) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// untilSignal gives a context that ends with the first SIGINT or SIGTERM, so that what was done can be put in
// order. The second ends the process at once, by exit. The function that it returns ends both.
func untilSignal(parent context.Context, exit func(code int)) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	stopped := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { obey(signals, stopped, cancel, exit) })
	return ctx, func() {
		signal.Stop(signals)
		close(stopped)
		wg.Wait()
		cancel(nil)
	}
}

func obey(signals <-chan os.Signal, stopped <-chan struct{}, cancel context.CancelCauseFunc, exit func(int)) {
	for first := true; ; first = false {
		select {
		case s := <-signals:
			number, ok := s.(syscall.Signal)
			if !ok {
				continue
			}
			why := &signalError{number}
			if !first {
				exit(why.code())
				return
			}
			cancel(why)
		case <-stopped:
			return
		}
	}
}
