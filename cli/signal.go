package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"braid/download"
	"braid/internal/option"
)

// A signalError is the cause of a context that a signal canceled.
type signalError struct{ signal syscall.Signal }

func (e *signalError) Error() string {
	if e.signal == syscall.SIGTERM {
		return "terminated"
	}
	return "interrupted"
}

// Is makes errors.Is(e, context.Canceled) true.
func (e *signalError) Is(target error) bool { return target == context.Canceled }

// code returns the exit code that shells report for a command that the signal killed.
func (e *signalError) code() int { return exitSignal + int(e.signal) }

// signalOf returns the signal that canceled ctx, or nil.
func signalOf(ctx context.Context) *signalError {
	e, _ := errors.AsType[*signalError](context.Cause(ctx))
	return e
}

// signalCode returns the exit code for the signal that canceled ctx. ok is false if no signal did.
func signalCode(ctx context.Context) (code int, ok bool) {
	if e := signalOf(ctx); e != nil {
		return e.code(), true
	}
	return 0, false
}

// endedBySignal reports whether a signal ended ctx.
func endedBySignal(ctx context.Context) bool { return signalOf(ctx) != nil }

// A timeUpError is the cause of a context that --max-time canceled.
type timeUpError struct{ limit time.Duration }

func (e *timeUpError) Error() string { return "not done within " + option.TimeText(e.limit) }

// Is makes errors.Is(e, context.Canceled) true.
func (e *timeUpError) Is(target error) bool { return target == context.Canceled }

// within returns a context that is canceled with parent and, if limit is positive, after limit. The returned function
// cancels the context immediately.
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

// untilDone returns the error of read or, if ctx is done first, a *download.Error with its cause: nothing interrupts a
// read from a pipe, a FIFO or a terminal. In the latter case, the process ends soon, and the results of read must not
// be used.
func untilDone(ctx context.Context, read func() error) error {
	done := make(chan error, 1)
	go func() { done <- read() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return &download.Error{Kind: download.Interrupted, What: "read", Where: "input", Err: context.Cause(ctx)}
	}
}

// untilSignal returns a context that the first SIGINT or SIGTERM cancels, so that the command can save its state. The
// second signal calls exit. The returned function restores the default effect of both signals.
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
