package jetstream

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestAnswered checks that a call is repeated while its answers are lost, until its context ends.
func TestAnswered(t *testing.T) {
	lost := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	refused := errors.New("refused")
	for name, tt := range map[string]struct {
		answers []error // nil: the answer is lost; then no answer is lost
		want    error
		calls   int
	}{
		"one answer is lost": {[]error{nil}, nil, 2},
		"it is an error":     {[]error{nil, refused}, refused, 2},
		"none comes":         {make([]error, 9), context.DeadlineExceeded, 4},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithTimeout(t.Context(), 3*oneCall+time.Second)
			defer stop()
			calls := 0
			err := answered(ctx, func(once context.Context) error {
				if calls++; calls > len(tt.answers) {
					return nil
				}
				if err := tt.answers[calls-1]; err != nil {
					return err
				}
				return lost(once)
			})
			if !errors.Is(err, tt.want) || calls != tt.calls {
				t.Errorf("%s: %v after %d calls, want %v after %d", name, err, calls, tt.want, tt.calls)
			}
		})
	}
}
