package download

import (
	"context"
	"errors"
	"io"
	"time"

	"braid/byterange"
	"braid/source"
)

// fetchPart brings a few bytes of a file into memory, or gives them up when nothing comes for a while (rule 21).
func fetchPart(ctx context.Context, src source.Source, patience time.Duration, r byterange.Range) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slow := time.AfterFunc(longest*patience, func() { cancel(errSlow) })
	defer slow.Stop()
	silent := time.AfterFunc(patience, func() { cancel(errSilent) })
	defer silent.Stop()
	k := &window{r: r, data: make([]byte, r.Len()), heard: func() { silent.Reset(patience) }}
	err := src.Fetch(ctx, r, k)
	switch cause := context.Cause(ctx); {
	case err != nil && (cause == errSilent || cause == errSlow):
		return nil, &source.Error{Fault: source.FaultNetwork, Retry: true, Err: cause}
	case err != nil:
		return nil, err
	case k.have.Len() < r.Len():
		return nil, &source.Error{Fault: source.FaultNetwork, Retry: true, Err: io.ErrUnexpectedEOF}
	}
	return k.data, nil
}

// A window is a sink for a range.
type window struct {
	r     byterange.Range
	data  []byte
	have  byterange.Set
	heard func()
}

func (k *window) Answer(a source.Answer) error {
	k.heard()
	if !a.Ranged && k.r.Start > mostSkipped {
		return &source.Error{Host: a.Host, Fault: source.FaultProtocol, Err: errors.New("it does not serve ranges")}
	}
	return nil
}

// mostSkipped is what is read of a whole file for a range that begins later.
const mostSkipped = 1 << 20

func (k *window) WriteAt(p []byte, off int64) (int, error) {
	k.heard()
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
	k.heard()
	return nil
}

// End implements source.PieceSink.
func (k *window) End() int64 { return k.r.End }
