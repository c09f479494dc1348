package mirrortest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"

	"braid/verify"
)

// A Content is the file that a mirror has. It is an io.ReaderAt, and may be used by several goroutines.
type Content struct {
	data []byte // nil: made up by seed
	size int64
	seed uint64
}

// Body is what New accepts as the file.
type Body interface{ []byte | Content }

// Generate makes up a file of any size. It needs no memory, and the same seed gives the same bytes.
func Generate(size int64, seed uint64) Content { return Content{size: size, seed: seed} }

// ContentOf is body as a Content. It must not be changed any more.
func ContentOf[B Body](body B) Content {
	switch b := any(body).(type) {
	case Content:
		return b
	case []byte:
		return Content{data: b[:len(b):len(b)], size: int64(len(b))}
	}
	panic("unreachable: Body has no other types")
}

// Size is the number of bytes.
func (c Content) Size() int64 { return c.size }

// Reader reads the file from its start.
func (c Content) Reader() io.Reader { return io.NewSectionReader(c, 0, c.size) }

// Bytes is the whole file, which must not be changed.
func (c Content) Bytes() []byte {
	if c.data != nil {
		return c.data
	}
	b := make([]byte, c.size)
	c.fill(b, 0)
	return b
}

// Compare reads r to its end, and is nil if that is the file. What it needs of memory does not grow with the file:
// large blocks are expensive under the race detector.
func (c Content) Compare(r io.Reader) error {
	var got, want [32 << 10]byte
	for off := int64(0); ; {
		n, err := io.ReadFull(r, got[:])
		here := min(int64(n), c.size-off)
		c.fill(want[:here], off)
		if !bytes.Equal(got[:n], want[:here]) {
			return fmt.Errorf("not the file: wrong or too much in the %d bytes at %d", n, off)
		}
		switch off += here; {
		case err == nil:
		case err != io.EOF && err != io.ErrUnexpectedEOF:
			return err
		case off < c.size:
			return fmt.Errorf("not the file: ends at %d of %d", off, c.size)
		default:
			return nil
		}
	}
}

// Digest is the SHA-256 of the file.
func (c Content) Digest() verify.Digest {
	h := sha256.New()
	if c.data != nil {
		h.Write(c.data)
	} else if _, err := io.Copy(h, c.Reader()); err != nil {
		panic(err) // neither memory nor hashes fail
	}
	d, err := verify.NewDigest(verify.SHA256, h.Sum(nil))
	if err != nil {
		panic(err)
	}
	return d
}

// ReadAt implements io.ReaderAt.
func (c Content) ReadAt(p []byte, off int64) (int, error) {
	n := max(0, min(int64(len(p)), c.size-off))
	if n > 0 {
		c.fill(p[:n], off)
	}
	if n < int64(len(p)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

// fill writes the bytes at off, which must exist.
func (c Content) fill(p []byte, off int64) {
	if c.data != nil {
		copy(p, c.data[off:])
		return
	}
	var word [8]byte
	for len(p) > 0 {
		i, skip := off/8, off%8
		if skip == 0 && len(p) >= 8 {
			binary.LittleEndian.PutUint64(p, c.word(i))
			p, off = p[8:], off+8
			continue
		}
		binary.LittleEndian.PutUint64(word[:], c.word(i))
		n := copy(p, word[skip:])
		p, off = p[n:], off+int64(n)
	}
}

// word is the i-th word of eight bytes: a finalizer in the manner of SplitMix64 over a counter, so that any
// place of the file can be had without what is before it.
func (c Content) word(i int64) uint64 {
	z := c.seed + (uint64(i)+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
