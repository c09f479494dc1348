package feedtext

import (
	"braid/antenna/feed"
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// free is the decompressed size up to which the ratio is not checked, because short texts compress well.
const free = 1 << 20

// Reader reads the decompressed content of a feed. Its error is a *feed.RejectError if a limit is exceeded or the
// compressed data is invalid.
type Reader struct {
	raw    *counter
	limits feed.Limits
	r      io.Reader
	gzip   bool
	n      int64
	err    error  // returned by all later calls
	head   []byte // peeked but not read
}

// NewReader returns a Reader for r, or r itself if r is a *Reader. It does not read from r yet.
func NewReader(r io.Reader, limits feed.Limits) *Reader {
	if open, ok := r.(*Reader); ok {
		return open
	}
	return &Reader{raw: &counter{r: r}, limits: limits.OrDefault()}
}

// Gzip reports whether the feed is compressed. The result is valid after the first Read.
func (r *Reader) Gzip() bool { return r.gzip }

// Peek returns the next n octets without consuming them. If fewer are left, it returns these, with the error that ended
// reading, or with nil at the end of the feed.
func (r *Reader) Peek(n int) ([]byte, error) {
	p := make([]byte, n)
	for len(r.head) < n && r.err == nil {
		got, _ := r.read(p[:n-len(r.head)])
		r.head = append(r.head, p[:got]...)
	}
	if len(r.head) < n && r.err != io.EOF {
		return r.head, r.err
	}
	return r.head[:min(n, len(r.head))], nil
}

func (r *Reader) Read(p []byte) (n int, err error) {
	if len(r.head) > 0 {
		n = copy(p, r.head)
		r.head = r.head[n:]
		return n, nil
	}
	return r.read(p)
}

func (r *Reader) read(p []byte) (n int, err error) {
	if r.r == nil && r.err == nil {
		r.err = r.open()
	}
	if r.err != nil {
		return 0, r.err
	}
	n, r.err = r.r.Read(p)
	r.n += int64(n)
	if r.gzip && r.err != nil {
		r.err = r.blame(r.err)
	}
	if over := r.n - r.limits.Bytes; over > 0 {
		n = max(0, n-int(over))
		r.err = &feed.RejectError{Code: "too-large", Why: fmt.Sprintf("more than %d octets", r.limits.Bytes)}
	}
	if r.gzip && r.n > free && r.n/r.limits.Ratio > r.raw.n {
		n = 0
		r.err = &feed.RejectError{Code: "compressed-too-well", Why: fmt.Sprintf("compression ratio over %d to 1", r.limits.Ratio)}
	}
	return n, r.err
}

// open detects compression by the first octets.
func (r *Reader) open() error {
	buffered := bufio.NewReader(r.raw)
	r.r = buffered
	magic, err := buffered.Peek(2)
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		if err == io.EOF {
			return nil // the next read returns io.EOF again
		}
		return err
	}
	r.gzip = true
	z, err := gzip.NewReader(buffered)
	if err != nil {
		return r.blame(err)
	}
	r.r = z
	return nil
}

// blame converts errors about invalid or truncated compressed data to a *feed.RejectError. It returns errors of the
// input unchanged.
func (r *Reader) blame(err error) error {
	var corrupt flate.CorruptInputError
	cut := err == io.ErrUnexpectedEOF && r.raw.err == io.EOF
	if cut || err == gzip.ErrHeader || err == gzip.ErrChecksum || errors.As(err, &corrupt) {
		return &feed.RejectError{Code: "bad-gzip", Why: err.Error()}
	}
	return err
}

// counter is a reader that counts octets and records the last error.
type counter struct {
	r   io.Reader
	n   int64
	err error
}

func (c *counter) Read(p []byte) (n int, err error) {
	n, err = c.r.Read(p)
	c.n += int64(n)
	c.err = err
	return n, err
}
