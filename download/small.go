package download

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"braid/byterange"
	"braid/source"
	"braid/source/httpsource"
)

const (
	defaultTimeout = 30 * time.Second // rule 21
	// longest is how many timeouts a document may take as a whole: one that comes a byte at a time would never be complete.
	longest = 10
)

// Why a document is given up (rule 21). There is nobody who could go on in place of its server.
var (
	errSilent = errors.New("it went silent")
	errSlow   = errors.New("it would take too long")
)

// patience is how long a server of a document may be silent.
func (n network) patience() time.Duration { return cmp.Or(n.timeout, defaultTimeout) }

// fetchSmall brings a document of at most so many bytes, or gives it up: while it is waited for, a download may stand still.
func fetchSmall(ctx context.Context, hc network, u *url.URL, o httpsource.Options, most int64) ([]byte, source.Answer, error) {
	m := &memory{most: most}
	err := hc.bring(ctx, u, o, whole, m)
	if m.long && (err == nil || errors.Is(err, source.ErrEnough)) {
		err = &longError{most}
	}
	return m.data.Bytes(), m.answer, err
}

// bring fetches a range into m, with the patience for a document.
func (n network) bring(ctx context.Context, u *url.URL, o httpsource.Options, r byterange.Range, m *memory) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	patience := n.patience()
	slow := time.AfterFunc(longest*patience, func() { cancel(errSlow) })
	defer slow.Stop()
	silent := time.AfterFunc(patience, func() { cancel(errSilent) })
	silent.Stop() // until there is an answer, the client looks at the time
	defer silent.Stop()
	m.received = func() { silent.Reset(patience) }
	err := n.Source(u, o).Fetch(ctx, r, m)
	if cause := context.Cause(ctx); err != nil && (cause == errSilent || cause == errSlow) {
		err = &source.Error{URL: source.Mask(u), Host: source.HostPort(u), Fault: source.FaultNetwork, Err: cause}
	}
	return err
}

// A longError says that a document is longer than its kind may be.
type longError struct{ most int64 }

func (e *longError) Error() string { return fmt.Sprintf("it has more than %d bytes", e.most) }

// memory is a sink for what is small.
type memory struct {
	most     int64
	first    bool // no more than that is wanted, and there may be
	long     bool
	answer   source.Answer
	data     bytes.Buffer
	received func() // is called for each word of the server's
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
	if off != int64(m.data.Len()) {
		return 0, fmt.Errorf("bytes at %d, not %d", off, m.data.Len())
	}
	if m.long = off+int64(len(p)) > m.most; m.long {
		if m.first {
			m.data.Write(p[:m.most-off])
		}
		return 0, source.ErrEnough
	}
	return m.data.Write(p)
}
