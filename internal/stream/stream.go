// Package stream reads the content of a source while it is received, within time limits.
package stream

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"braid/byterange"
	"braid/internal/option"
	"braid/source"
)

// A Reader is the content of a source while it is received. It is read by one goroutine and must be closed.
type Reader struct {
	Answer source.Answer

	r       *io.PipeReader
	cancel  context.CancelCauseFunc
	fetched sync.WaitGroup
}

// Limits are time limits. Time that is spent waiting for the reader does not count.
type Limits struct {
	Silence time.Duration // maximum time between two writes of the source; the error is a *SilentError
	Total   time.Duration // maximum time for the whole content; the error is a *LateError
}

// Open requests the whole content of src. It returns when the source has answered or failed.
func Open(ctx context.Context, src source.Source, l Limits) (*Reader, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	r, w := io.Pipe()
	p := &Reader{r: r, cancel: cancel}
	s := newSink(w, l.Silence, l.Total, cancel)
	ended := make(chan error, 1)
	p.fetched.Go(func() {
		err := src.Fetch(ctx, byterange.Range{End: byterange.Unbounded}, s)
		s.pause()
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause
		}
		w.CloseWithError(err) // a nil error makes Read return io.EOF
		ended <- err
	})
	select {
	case p.Answer = <-s.begun:
	case err := <-ended:
		select {
		case p.Answer = <-s.begun: // the reader gets the error
		default:
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

func (p *Reader) Read(b []byte) (int, error) { return p.r.Read(b) }

// Close ends the request and waits until the source has ended.
func (p *Reader) Close() {
	p.cancel(nil)
	p.r.Close()
	p.fetched.Wait()
}

// A sink writes a response into a pipe. Its timers run during waits for the server, not during waits for the reader.
type sink struct {
	w        *io.PipeWriter
	begun    chan source.Answer
	silent   *time.Timer
	patience time.Duration
	late     *time.Timer
	left     time.Duration // until the late timer fires
	since    time.Time     // the start of the current wait for the server
}

// newSink starts the late timer. The timers call cancel when they fire. Until the response begins, the timeouts of the
// client apply instead of the timer silent.
func newSink(w *io.PipeWriter, patience, most time.Duration, cancel context.CancelCauseFunc) *sink {
	s := &sink{w: w, begun: make(chan source.Answer, 1), patience: patience, left: most, since: time.Now()}
	s.silent = time.AfterFunc(patience, func() { cancel(&SilentError{patience}) })
	s.silent.Stop()
	s.late = time.AfterFunc(most, func() { cancel(&LateError{most}) })
	return s
}

func (s *sink) Answer(a source.Answer) error {
	s.begun <- a
	s.silent.Reset(s.patience)
	return nil
}

func (s *sink) WriteAt(p []byte, _ int64) (int, error) {
	s.pause()
	n, err := s.w.Write(p)
	s.since = time.Now()
	s.silent.Reset(s.patience)
	s.late.Reset(s.left)
	if err != nil { // the reader has closed the pipe
		return n, source.ErrEnough
	}
	return n, nil
}

func (s *sink) pause() {
	s.silent.Stop()
	s.late.Stop()
	s.left = max(0, s.left-time.Since(s.since))
}

// A SilentError means that the server sent nothing for some time.
type SilentError struct{ patience time.Duration }

func (e *SilentError) Error() string {
	return fmt.Sprintf("no byte for %s", option.TimeText(e.patience))
}

// A LateError means that the response was not complete within the limit.
type LateError struct{ most time.Duration }

func (e *LateError) Error() string { return fmt.Sprintf("not done within %s", option.TimeText(e.most)) }
