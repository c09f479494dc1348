package httpsource

import (
	"context"
	"fmt"
	"io"
	"sync"

	"braid/internal/web"
	"braid/source"
	"braid/verify"
)

var buffers = sync.Pool{New: func() any { return new([web.BufferSize]byte) }}

// deliver passes the body to w. It passes on the bytes of each Read at once, so that a slow stream is not delayed. On a
// fast connection, a Read returns many bytes (socket.go of package web).
func (c *chain) deliver(ctx context.Context, x *web.Exchange, a source.Answer, w source.Sink) error {
	buf := buffers.Get().(*[web.BufferSize]byte)
	defer buffers.Put(buf)
	check := web.NewContent(a.Content, x.Trailer)
	for off := a.Start; ; {
		p := buf[:]
		if a.End >= 0 {
			p = buf[:min(web.BufferSize, max(1, a.End-off))] // at the end, one more byte detects a longer body
		}
		n, err := x.Read(p)
		if n > 0 && off == a.End {
			x.Close()
			return c.fail(x, source.FaultProtocol, web.ErrLonger)
		}
		check.Write(p[:n])
		if off+int64(n) == a.End { // before w gets the last bytes
			if err := contentError(check); err != nil {
				x.Close()
				return c.fail(x, source.FaultMismatch, err)
			}
		}
		if n > 0 {
			if enough, err := source.Give(w, p[:n], off); err != nil || enough {
				x.Leave(a.End - off - int64(n))
				return err
			}
			off += int64(n)
		}
		if err != nil {
			return c.ended(ctx, x, a, off, err, check)
		}
	}
}

// ended returns the error of a body that ended at off with err, or nil if the body is complete and has the announced
// digest.
func (c *chain) ended(ctx context.Context, x *web.Exchange, a source.Answer, off int64, err error, check *web.Content) error {
	defer x.Close()
	short := off < a.End
	switch {
	case err == io.EOF && !short:
		if err := c.complete(x, a, off); err != nil {
			return err
		}
		check.End(verify.OfContent(x.Trailer, c.channel()))
		if !a.Ranged { // the content is the whole file
			claims, _ := verify.FromHeader(x.Trailer, c.channel())
			check.End(claims)
		}
		if err := contentError(check); err != nil {
			return c.fail(x, source.FaultMismatch, err)
		}
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	fault, retry := classify(err)
	e := c.fail(x, fault, fmt.Errorf("body ends at byte %d: %w", off, err))
	e.Retry = retry
	return e
}

// complete returns an error if a body that seems complete was truncated, or has more bytes than announced.
func (c *chain) complete(x *web.Exchange, a source.Answer, off int64) error {
	switch err := x.Complete(a.End >= 0); err {
	case nil:
		return nil
	case web.ErrCut:
		e := c.fail(x, source.FaultTLS, fmt.Errorf("body ends at byte %d without close_notify", off))
		e.Retry = true
		return e
	default:
		return c.fail(x, source.FaultProtocol, err)
	}
}

// contentError returns an error if the content that k has read does not match its digest.
func contentError(k *web.Content) error {
	if got, want, wrong := k.Wrong(); wrong {
		return &source.ContentError{Got: got, Want: want}
	}
	return nil
}
