// Package small fetches what fits in memory: documents, signatures, and parts of pieces.
//
// A download may wait for such a fetch. So a fetch is given up if the server is silent, or sends so slowly that the
// fetch would take too long.
package small

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"time"

	"braid/byterange"
	"braid/source"
)

// Longest limits the time of a fetch, as a multiple of the time for which the server may be silent. A server that sends
// a byte at a time is never silent.
const Longest = 10

// The reasons to give up a fetch.
var (
	ErrSilent = error(silentError{})
	ErrSlow   = errors.New("it would take too long")
)

type silentError struct{}

func (silentError) Error() string { return "it stopped sending" }

// Timeout makes source.IsTimeout report true.
func (silentError) Timeout() bool { return true }

// A LongError is the error of a document that is longer than its kind may be.
type LongError struct{ Most int64 }

func (e *LongError) Error() string { return fmt.Sprintf("it has more than %d bytes", e.Most) }

// Whole fetches a document of at most most bytes from src, the source of u. It gives up if the server is silent for
// patience, or after Longest times patience.
func Whole(ctx context.Context, src source.Source, u *url.URL, patience time.Duration,
	most int64) ([]byte, source.Answer, error) {
	m := &memory{most: most}
	err := m.fetch(ctx, src, u, patience, byterange.Range{End: byterange.Unbounded})
	if m.long && (err == nil || errors.Is(err, source.ErrEnough)) {
		return nil, m.answer, &LongError{most}
	}
	return m.bytes(), m.answer, err
}

// First fetches the first n bytes at u, or fewer if the file is shorter. It gives up like Whole.
func First(ctx context.Context, src source.Source, u *url.URL, patience time.Duration, n int64) ([]byte, source.Answer, error) {
	m := &memory{most: n, first: true}
	err := m.fetch(ctx, src, u, patience, byterange.Range{End: n})
	if errors.Is(err, source.ErrEnough) {
		err = nil
	}
	return m.bytes(), m.answer, err
}

// Patiently runs fetch. It cancels the context of fetch when nothing was received for patience, or after Longest times
// patience. fetch must reset the timer silent whenever it receives something. If fetch was cancelled and failed, the
// error is ErrSilent or ErrSlow.
func Patiently(ctx context.Context, patience time.Duration,
	fetch func(ctx context.Context, silent, slow *time.Timer) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slow := time.AfterFunc(Longest*patience, func() { cancel(ErrSlow) })
	defer slow.Stop()
	silent := time.AfterFunc(patience, func() { cancel(ErrSilent) })
	defer silent.Stop()
	err := fetch(ctx, silent, slow)
	if cause := context.Cause(ctx); err != nil && GaveUp(cause) {
		return cause
	}
	return err
}

// GaveUp reports whether err is the error of a fetch that Patiently cancelled.
func GaveUp(err error) bool { return err == ErrSilent || err == ErrSlow }

// memory is a sink for small files.
type memory struct {
	most     int64
	first    bool // only the first most bytes are wanted; there may be more
	long     bool
	answer   source.Answer
	parts    [][]byte // not one growing buffer, which would be copied repeatedly while several fetches run at once
	size     int64
	received func()               // called for each answer and each write
	take     func(size int) error // waits for a slot
}

// fetch fetches a range into m.
func (m *memory) fetch(ctx context.Context, src source.Source, u *url.URL, patience time.Duration, r byterange.Range) error {
	began := time.Now()
	var next int      // number of bytes that have to arrive until due
	var due time.Time // see pace
	err := Patiently(ctx, patience, func(ctx context.Context, silent, slow *time.Timer) error {
		silent.Stop() // the client watches the time until the answer
		m.received = func() { silent.Reset(patience) }
		m.take = func(size int) error {
			silent.Stop() // the wait for a slot does not count
			slow.Stop()
			asked := time.Now()
			defer func() {
				m.received()
				began = began.Add(time.Since(asked))
				rest := Longest*patience - time.Since(began)
				if isPaced(ctx, size) {
					if size >= next {
						next, due = size+Free, time.Now().Add(pace)
					}
					rest = min(rest, time.Until(due))
				}
				slow.Reset(rest)
			}()
			return TakeSlot(ctx, size)
		}
		return src.Fetch(ctx, r, m)
	})
	if GaveUp(err) {
		err = &source.Error{URL: source.Mask(u), Host: source.HostPort(u), Fault: source.FaultNetwork, Err: err}
	}
	return err
}

func (m *memory) Answer(a source.Answer) error {
	m.answer = a
	m.received()
	if m.long = a.Size > m.most && !m.first; m.long {
		return source.ErrEnough
	}
	return nil
}

func (m *memory) WriteAt(p []byte, off int64) (int, error) {
	m.received()
	if off != m.size {
		return 0, fmt.Errorf("bytes at %d, not %d", off, m.size)
	}
	if m.long = off+int64(len(p)) > m.most; m.long {
		if m.first {
			m.write(p[:m.most-off])
		}
		return 0, source.ErrEnough
	}
	if err := m.take(int(m.size) + len(p)); err != nil {
		return 0, err
	}
	m.write(p)
	return len(p), nil
}

// write appends p. A new part is as long as all parts before it, within 4 KiB and 256 KiB.
func (m *memory) write(p []byte) {
	for len(p) > 0 {
		i := len(m.parts) - 1
		if i < 0 || len(m.parts[i]) == cap(m.parts[i]) {
			m.parts = append(m.parts, make([]byte, 0, min(max(m.size, 4<<10), 256<<10)))
			i++
		}
		n := min(len(p), cap(m.parts[i])-len(m.parts[i]))
		m.parts[i], p, m.size = append(m.parts[i], p[:n]...), p[n:], m.size+int64(n)
	}
}

// bytes returns the received bytes.
func (m *memory) bytes() []byte {
	if len(m.parts) == 1 {
		return m.parts[0]
	}
	return slices.Concat(m.parts...)
}

// Part fetches a short range of a file from src. It gives up like Whole.
func Part(ctx context.Context, src source.Source, patience time.Duration, r byterange.Range) ([]byte, error) {
	k := &window{r: r, data: make([]byte, r.Len())}
	err := Patiently(ctx, patience, func(ctx context.Context, silent, _ *time.Timer) error {
		k.received = func() { silent.Reset(patience) }
		return src.Fetch(ctx, r, k)
	})
	if err == nil && k.have.Len() < r.Len() {
		err = io.ErrUnexpectedEOF
	}
	if GaveUp(err) || err == io.ErrUnexpectedEOF {
		err = &source.Error{Fault: source.FaultNetwork, Retry: true, Err: err}
	}
	if err != nil {
		return nil, err
	}
	return k.data, nil
}

// A window is a sink for a range.
type window struct {
	r        byterange.Range
	data     []byte
	have     byterange.Set
	received func()
}

func (k *window) Answer(a source.Answer) error {
	k.received()
	if !a.Ranged && k.r.Start > mostSkipped {
		return &source.Error{Host: a.Host, Fault: source.FaultProtocol, Err: errors.New("it does not serve ranges")}
	}
	return nil
}

// mostSkipped limits how much of a whole file is read to reach a range that begins later.
const mostSkipped = 1 << 20

func (k *window) WriteAt(p []byte, off int64) (int, error) {
	k.received()
	from, to := max(off, k.r.Start), min(off+int64(len(p)), k.r.End)
	if from < to {
		copy(k.data[from-k.r.Start:], p[from-off:to-off])
		k.have.Add(byterange.Range{Start: from, End: to})
	}
	if k.have.Len() == k.r.Len() {
		return int(max(0, to-off)), source.ErrEnough
	}
	return len(p), nil
}

// Coming implements source.PieceSink.
func (k *window) Coming(int64) error {
	k.received()
	return nil
}

// End implements source.PieceSink.
func (k *window) End() int64 { return k.r.End }
