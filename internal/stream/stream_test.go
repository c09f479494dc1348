package stream

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"braid/source"
)

// Proves rule 52: who sends something now and then is given up when the time is over, in which nothing counts but the
// wait for the server: who reads what a command prints takes the time that it wants.
func TestTime_Rule52(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		r, w := io.Pipe()
		s := newSink(w, time.Minute, 5*time.Minute, cancel)
		if err := s.Answer(source.Answer{}); err != nil {
			t.Fatal(err)
		}
		var reader sync.WaitGroup
		reader.Go(func() {
			for buf := make([]byte, 1); ; time.Sleep(time.Hour) { // it takes its time
				if _, err := r.Read(buf); err != nil {
					return
				}
			}
		})
		begun, sent := time.Now(), 0
		for ; ctx.Err() == nil && sent < 100; sent++ {
			time.Sleep(30 * time.Second)
			if _, err := s.WriteAt([]byte("x"), int64(sent)); err != nil {
				t.Fatal(err)
			}
		}
		var late *LateError
		if !errors.As(context.Cause(ctx), &late) || sent != 10 {
			t.Errorf("%v after %v and %d bytes", context.Cause(ctx), time.Since(begun), sent)
		}
		r.Close()
		s.pause()
		reader.Wait()
	})
}
