// Package whole keeps a file in memory, for signatures that cover the file itself and not a digest of it.
package whole

import "errors"

// Most is the maximum size of a file in bytes.
const Most = 16 << 20

// A File has the bytes of a file, written in order. The zero value is an empty file.
type File struct {
	data []byte
	over bool // the file has more than Most bytes
}

// Write appends p. It never fails.
func (f *File) Write(p []byte) (int, error) {
	switch {
	case f.over:
	case len(f.data)+len(p) > Most:
		f.data, f.over = nil, true
	default:
		f.data = append(f.data, p...)
	}
	return len(p), nil
}

// Bytes returns the file. It reports false if the file has more than Most bytes. The caller must not change the bytes.
func (f *File) Bytes() (data []byte, ok bool) { return f.data, !f.over }

// The first byte of a marshaled state.
const (
	kept   = 'k'
	tooBig = 'b'
)

// MarshalBinary returns the state of f.
func (f *File) MarshalBinary() ([]byte, error) {
	if f.over {
		return []byte{tooBig}, nil
	}
	return append([]byte{kept}, f.data...), nil
}

// UnmarshalBinary restores a state into f.
func (f *File) UnmarshalBinary(state []byte) error {
	if len(state) == 0 || len(state) > 1+Most || state[0] != kept && string(state) != string(tooBig) {
		return errors.New("not the state of a file in memory")
	}
	f.over, f.data = state[0] == tooBig, append([]byte(nil), state[1:]...)
	return nil
}
