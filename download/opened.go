package download

import (
	"context"
	"errors"
	"net/url"

	"braid/byterange"
	"braid/metalink"
	"braid/source"
)

// An opened is a source that the caller made (Client.Open). It counts as a mirror. Missing fields of its answer are
// set, and bytes that do not follow the previous bytes are refused.
type opened struct {
	source.Source
	url *url.URL
}

// Fetch implements source.Source.
func (x opened) Fetch(ctx context.Context, r byterange.Range, w source.Sink) error {
	k := &openedSink{to: w, url: x.url, next: -1}
	err := x.Source.Fetch(ctx, r, k)
	var e *source.Error
	var c *source.ContentError
	switch {
	case k.err != nil:
		return k.err
	case err == nil, errors.As(err, &e), errors.As(err, &c), ctx.Err() != nil:
		return err
	}
	return k.fault(source.FaultNetwork, err)
}

// An openedSink enforces the contract of source.Sink.
type openedSink struct {
	to   source.Sink
	url  *url.URL
	next int64 // the offset of the next byte; -1 before the answer
	err  error // error of the sink, or of a source that breaks the contract
}

func (k *openedSink) fault(f source.Fault, err error) error {
	return &source.Error{URL: source.Mask(k.url), Host: source.HostPort(k.url), Fault: f,
		Retry: f == source.FaultNetwork, Err: err}
}

// Answer implements source.Sink.
func (k *openedSink) Answer(a source.Answer) error {
	a.Host, a.URL, a.Hops = source.HostPort(k.url), k.url, []metalink.Hop{{URL: k.url}}
	k.next, k.err = a.Start, k.to.Answer(a)
	return k.err
}

// WriteAt implements source.Sink.
func (k *openedSink) WriteAt(p []byte, off int64) (n int, err error) {
	if off != k.next || k.err != nil {
		if k.err == nil {
			k.err = k.fault(source.FaultProtocol, errors.New("received bytes that do not follow the previous ones"))
		}
		return 0, k.err
	}
	n, err = k.to.WriteAt(p, off)
	if k.next += int64(n); err != nil && !errors.Is(err, source.ErrEnough) {
		k.err = err
	}
	return n, err
}
