package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"braid/byterange"
	"braid/download"
	"braid/internal/job"
	"braid/internal/problem"
	"braid/source"
	"braid/source/httpsource"
)

// A pipe is the body of a response while it is received. It is read by one goroutine and must be closed.
type pipe struct {
	*io.PipeReader
	answer source.Answer
	cancel context.CancelCauseFunc
	client *httpsource.Client
	wg     sync.WaitGroup
}

// fetch requests u and follows redirects.
func (f *feedFlags) fetch(ctx context.Context, u *url.URL) (*pipe, error) {
	user, err := f.UserFor(u)
	if err != nil {
		return nil, err
	}
	var fields download.Request
	if err := f.AddFields(&fields); err != nil {
		return nil, err
	}
	f.Sites = job.NewSites(configurationOf(ctx))
	if fields.Header, err = f.Sites.Fields(fields.Header, u); err != nil {
		return nil, err
	}
	client, err := f.Client(u.String())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r, w := io.Pipe()
	p := &pipe{PipeReader: r, cancel: cancel, client: client}
	p.client.HeaderTimeout = time.Duration(f.Timeout)
	s := newPipeSink(w, time.Duration(f.Timeout), time.Duration(f.MaxTime), cancel)
	src := p.client.Source(u, httpsource.Options{Header: fields.Header, HeaderTo: fields.HeaderTo, User: user, Gzip: true})
	ended := make(chan error, 1)
	p.wg.Go(func() {
		err := src.Fetch(ctx, byterange.Range{End: byterange.Unbounded}, s)
		s.pause()
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause
		}
		w.CloseWithError(err) // a nil error makes it io.EOF
		ended <- err
	})
	select {
	case p.answer = <-s.begun:
	case err := <-ended:
		select {
		case p.answer = <-s.begun: // the reader gets the error
		default:
			p.Close()
			return nil, feedFailure(ctx, source.Mask(u), err)
		}
	}
	return p, nil
}

// gzipped reports whether the server compressed the response.
func (p *pipe) gzipped() bool {
	hops := p.answer.Hops
	return len(hops) > 0 && http.Header(hops[len(hops)-1].Header).Get("Content-Encoding") != ""
}

// base returns the URL of the response after redirects.
func (p *pipe) base() string {
	if p.answer.URL == nil {
		return ""
	}
	return p.answer.URL.String()
}

func (p *pipe) header() http.Header {
	if n := len(p.answer.Hops); n > 0 {
		return p.answer.Hops[n-1].Header
	}
	return http.Header{}
}

func (p *pipe) Close() {
	p.cancel(nil)
	p.PipeReader.Close()
	p.wg.Wait()
	p.client.CloseIdle()
}

// A pipeSink writes a response into a pipe. Its timers run while it waits for the server and stop while it
// waits for the reader.
type pipeSink struct {
	w        *io.PipeWriter
	begun    chan source.Answer
	silent   *time.Timer
	patience time.Duration
	late     *time.Timer
	left     time.Duration // until the late timer fires
	since    time.Time     // the start of the current wait for the server
}

// newPipeSink starts the late timer. The timers call cancel when they fire. Until the response begins, the
// client watches for silence.
func newPipeSink(w *io.PipeWriter, patience, most time.Duration, cancel context.CancelCauseFunc) *pipeSink {
	s := &pipeSink{w: w, begun: make(chan source.Answer, 1), patience: patience, left: most, since: time.Now()}
	s.silent = time.AfterFunc(patience, func() { cancel(&silentError{patience}) })
	s.silent.Stop()
	s.late = time.AfterFunc(most, func() { cancel(&lateError{most}) })
	return s
}

func (s *pipeSink) Answer(a source.Answer) error {
	s.begun <- a
	s.silent.Reset(s.patience)
	return nil
}

func (s *pipeSink) WriteAt(p []byte, _ int64) (int, error) {
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

func (s *pipeSink) pause() {
	s.silent.Stop()
	s.late.Stop()
	s.left = max(0, s.left-time.Since(s.since))
}

// A silentError means that the server sent nothing for some time (rule 52).
type silentError struct{ patience time.Duration }

func (e *silentError) Error() string { return fmt.Sprintf("no byte for %s", timeText(e.patience)) }

// A lateError means that the response was not complete within the limit (rule 52).
type lateError struct{ most time.Duration }

func (e *lateError) Error() string { return fmt.Sprintf("not done within %s", timeText(e.most)) }

func feedFailure(ctx context.Context, name string, err error) *problem.Problem {
	kinds := map[source.Fault]download.Kind{
		source.FaultNetwork: download.Network, source.FaultTLS: download.TLS, source.FaultAuth: download.Auth,
		source.FaultProtocol: download.Protocol, source.FaultRefused: download.Refused,
		source.FaultMismatch: download.Mismatch, source.FaultLimit: download.Limit,
	}
	kind, hint := download.Local, ""
	if src, ok := errors.AsType[*source.Error](err); ok {
		kind = kinds[src.Fault]
	} else if _, silent := errors.AsType[*silentError](err); silent {
		kind = download.Network
	} else if _, late := errors.AsType[*lateError](err); late {
		kind, hint = download.Limit, "--max-time TIME sets the limit"
	} else if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		kind = download.Interrupted
	}
	f := downloadProblem(ctx, &download.Error{Kind: kind, What: "feed", Where: name, Err: err, Hint: download.Hint(hint)})
	f.Kept = ""
	return f
}
