// Package whole keeps a file in memory, for signatures that cover the file itself and not a digest of it.
package whole

import (
	"cmp"
	"errors"
	"slices"
)

// Most is the maximum size of a file in bytes.
const Most = 16 << 20

// A File has the bytes of a file, written in order. The zero value is an empty file.
type File struct {
	data  []byte
	over  bool  // the file has more than Most bytes
	first *File // if not nil, this File has the bytes
}

// Share makes checker use the bytes of first if checker keeps a File, to which nothing was written. Share returns first,
// or the File of checker if first is nil. First must be written to no later than checker.
func Share(checker any, first *File) *File {
	keeper, ok := checker.(interface{ Whole() any })
	if !ok {
		return first
	}
	f, _ := keeper.Whole().(*File)
	if first == nil || f == nil {
		return cmp.Or(first, f)
	}
	f.first = first
	return first
}

// Write appends p. It never fails.
func (f *File) Write(p []byte) (int, error) {
	switch {
	case f.over, f.first != nil:
	case len(f.data)+len(p) > Most:
		f.data, f.over = nil, true
	default:
		if n := len(f.data) + len(p); n > 1<<20 && n > cap(f.data) {
			f.data = slices.Grow(f.data, Most-len(f.data)) // once, so that no smaller copies are left for the collector
		}
		f.data = append(f.data, p...)
	}
	return len(p), nil
}

// Bytes returns the file. It reports false if the file has more than Most bytes. The caller must not change the bytes.
func (f *File) Bytes() (data []byte, ok bool) {
	if f.first != nil {
		f = f.first
	}
	return f.data, !f.over
}

// The first byte of a marshaled state.
const (
	kept   = 'k'
	tooBig = 'b'
	shared = 's'
)

// MarshalBinary returns the state of f.
func (f *File) MarshalBinary() ([]byte, error) {
	switch {
	case f.first != nil:
		return []byte{shared}, nil
	case f.over:
		return []byte{tooBig}, nil
	}
	return append([]byte{kept}, f.data...), nil
}

// UnmarshalBinary restores a state into f.
func (f *File) UnmarshalBinary(state []byte) error {
	if f.first != nil {
		return nil
	}
	if len(state) == 0 || len(state) > 1+Most || state[0] != kept && string(state) != string(tooBig) {
		return errors.New("not the state of a file in memory")
	}
	f.over, f.data = state[0] == tooBig, append([]byte(nil), state[1:]...)
	return nil
}
