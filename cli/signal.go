package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"braid/internal/option"
)

// A signalError is the cause of a context that ended because of a signal.
type signalError struct{ signal syscall.Signal }

func (e *signalError) Error() string {
	if e.signal == syscall.SIGTERM {
		return "terminated"
	}
	return "interrupted"
}

// Is makes the error match context.Canceled.
func (e *signalError) Is(target error) bool { return target == context.Canceled }

// code returns the exit code that shells report for a command that the signal killed.
func (e *signalError) code() int { return exitSignal + int(e.signal) }

// signalOf returns the signal that ended ctx, or nil.
func signalOf(ctx context.Context) *signalError {
	e, _ := errors.AsType[*signalError](context.Cause(ctx))
	return e
}

// signalCode returns the exit code if a signal ended ctx. Otherwise ok is false.
func signalCode(ctx context.Context) (code int, ok bool) {
	if e := signalOf(ctx); e != nil {
		return e.code(), true
	}
	return 0, false
}

// endedBySignal reports whether a signal ended ctx.
func endedBySignal(ctx context.Context) bool { return signalOf(ctx) != nil }

// A timeUpError is the cause of a context that ended because of --max-time.
type timeUpError struct{ limit time.Duration }

func (e *timeUpError) Error() string { return "not done within " + option.TimeText(e.limit) }

// Is makes the error match context.Canceled.
func (e *timeUpError) Is(target error) bool { return target == context.Canceled }

// within returns a context that ends after limit, if limit is positive. The returned function ends the context at once.
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

// untilSignal returns a context that ends with the first SIGINT or SIGTERM, so that the command can end in good order.
// The second signal calls exit. After the returned function, signals have their default effect again.
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
