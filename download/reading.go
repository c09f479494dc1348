package download

import (
	"context"
	"io"
	"time"
)

// A reading copies bytes of a file, and reports how far it is.
type reading struct {
	observe         func(Event)
	size            int64 // of all that is to be copied
	done, first     int64 // and what was done before
	began, reported time.Time
	buf             []byte
}

func newReading(observe func(Event), size, done int64) *reading {
	now := time.Now()
	return &reading{observe: observe, size: size, done: done, first: done, began: now, reported: now, buf: make([]byte, hashBuffer)}
}

// reportEvery is the time between two reports.
const reportEvery = 100 * time.Millisecond

// copy copies from to w, to its end or until ctx ends.
func (r *reading) copy(ctx context.Context, w io.Writer, from io.Reader) error {
	for ctx.Err() == nil {
		n, err := from.Read(r.buf)
		if _, err := w.Write(r.buf[:n]); err != nil {
			return local(err)
		}
		r.done += int64(n)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return local(err)
		}
		if now := time.Now(); now.Sub(r.reported) >= reportEvery {
			r.reported = now
			r.observe(Progress{Done: r.done, Size: r.size, Rate: float64(r.done-r.first) / now.Sub(r.began).Seconds()})
		}
	}
	return context.Cause(ctx)
}
