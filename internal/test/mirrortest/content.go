package mirrortest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"

	"braid/verify"
)

// Content is the file of a mirror. It is an io.ReaderAt and safe for concurrent use.
type Content struct {
	data []byte // nil if generated from seed
	size int64
	seed uint64
}

// Body is the type of the file that New accepts.
type Body interface{ []byte | Content }

// Generate returns a generated file of any size. It needs no memory, and equal seeds give equal bytes.
func Generate(size int64, seed uint64) Content { return Content{size: size, seed: seed} }

// ContentOf returns body as a Content. body must not be modified afterwards.
func ContentOf[B Body](body B) Content {
	switch b := any(body).(type) {
	case Content:
		return b
	case []byte:
		return Content{data: b[:len(b):len(b)], size: int64(len(b))}
	}
	panic("unreachable: Body has no other types")
}

// Size returns the number of bytes.
func (c Content) Size() int64 { return c.size }

// Reader returns a reader that begins at the start of the file.
func (c Content) Reader() io.Reader { return io.NewSectionReader(c, 0, c.size) }

// Bytes returns the whole file, which must not be modified.
func (c Content) Bytes() []byte {
	if c.data != nil {
		return c.data
	}
	b := make([]byte, c.size)
	c.fill(b, 0)
	return b
}

// Compare reads r to its end, and returns nil if it equals the file. It uses a small buffer for files of any size,
// because large blocks are expensive under the race detector.
func (c Content) Compare(r io.Reader) error {
	var got, room [32 << 10]byte
	for off := int64(0); ; {
		n, err := io.ReadFull(r, got[:])
		here := min(int64(n), c.size-off)
		want := c.view(off, here)
		if want == nil {
			want = room[:here]
			c.fill(want, off)
		}
		if !bytes.Equal(got[:n], want) {
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

// Digest returns the SHA-256 of the file.
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

// view returns the n bytes at off where they are, or nil if they are generated or do not all exist. Each copy is
// expensive under the race detector.
func (c Content) view(off, n int64) []byte {
	if c.data == nil || off+n > c.size {
		return nil
	}
	return c.data[off : off+n : off+n]
}

// fill copies the bytes at off, which must exist, to p. It generates them in a block of its own, so that the race
// detector sees one write a block.
func (c Content) fill(p []byte, off int64) {
	if c.data != nil {
		copy(p, c.data[off:])
		return
	}
	var block [2 << 10]byte
	for len(p) > 0 {
		skip := int(off % 8)
		words := min(len(block)/8, (skip+len(p)+7)/8)
		c.generate(block[:8*words], off/8)
		n := copy(p, block[skip:8*words])
		p, off = p[n:], off+int64(n)
	}
}

// generate fills block with whole words, from the i-th. The race detector would take most of the time of tests with
// large files, and can find nothing here: only the caller has the block.
//
//go:norace
func (c Content) generate(block []byte, i int64) {
	for ; len(block) >= 8; block, i = block[8:], i+1 {
		binary.LittleEndian.PutUint64(block, c.word(i))
	}
}

// word returns the i-th word of eight bytes. It applies a finalizer similar to SplitMix64 to a counter, so that each
// part of the file can be generated independently.
func (c Content) word(i int64) uint64 {
	z := c.seed + (uint64(i)+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
