package download

import (
	"errors"
	"fmt"
	"io"

	"braid/byterange"
	"braid/internal/partfile"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// If a server gives neither a digest nor a strong validator, nothing shows that the rest of a file belongs to the
// existing bytes. The existing bytes are still used if the user allows that (Request.IfExists.Continue).

// errFileReplaced means that the server has another file now. errNoParts means that the server does not support ranges.
var (
	errFileReplaced = errors.New("the server has another file")
	errNoParts      = errors.New("the server sends only the whole file")
)

const continuedSamples = 16

// unanswered reports whether err shows nothing about the server's file, for example a broken connection.
func unanswered(err error) bool {
	var src *source.Error
	return errors.As(err, &src) && src.Fault != source.FaultProtocol && src.Fault != source.FaultMismatch
}

// A sampleSink is a sink that compares arriving bytes with the existing bytes at the same offsets.
type sampleSink struct {
	here   io.ReaderAt
	prior  partfile.Identity
	as     role  // role of the server that is asked for the bytes
	spoken spoke // see footing
	r      byterange.Range
	at     int64
	buf    []byte

	claims   []verify.Claim // claims that the server stated
	received func()         // called for each answer and each write
}

// Answer implements source.Sink.
func (k *sampleSink) Answer(a source.Answer) error {
	k.received()
	switch {
	case a.Host != k.prior.Host:
		return fmt.Errorf("%w: %s answered instead of %s", errFileReplaced, a.Host, k.prior.Host)
	case a.Size != k.prior.Size:
		return fmt.Errorf("%w: its size is %d bytes, and was %d", errFileReplaced, a.Size, k.prior.Size)
	case !a.LastModified.Equal(k.prior.Date):
		return fmt.Errorf("%w: its date has changed", errFileReplaced)
	case !a.Ranged:
		return errNoParts
	}
	own := a.Hops[:ownAnswers(a.Hops, k.as, k.spoken)] // mirrors give no evidence
	if file, err := metalink.FromHops(own, true); err == nil {
		k.claims = file.Claims
	}
	return verify.Agree(standingOf(k.prior), k.claims)
}

// WriteAt implements source.Sink.
func (k *sampleSink) WriteAt(p []byte, off int64) (int, error) {
	k.received()
	n := min(int64(len(p)), k.r.End-off)
	k.buf = append(k.buf[:0], p[:n]...)
	if m, err := k.here.ReadAt(k.buf, off); int64(m) < n {
		return 0, local(err)
	}
	if i := string(k.buf) != string(p[:n]); i {
		return 0, fmt.Errorf("%w: different bytes at %d", errFileReplaced, off)
	}
	if k.at = off + n; k.at >= k.r.End {
		return int(n), source.ErrEnough
	}
	return int(n), nil
}
