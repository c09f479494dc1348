package whole

import (
	"bytes"
	"testing"
)

// TestFile: up to the limit all bytes are kept, beyond it none, also across a state.
func TestFile(t *testing.T) {
	block := bytes.Repeat([]byte("0123456789abcdef"), Most/16)
	for _, tt := range []struct {
		name  string
		parts [][]byte
		ok    bool
	}{
		{"empty", nil, true},
		{"small", [][]byte{[]byte("a"), nil, []byte("bc")}, true},
		{"full", [][]byte{block[:Most-1], block[:1]}, true},
		{"over", [][]byte{block, block[:1]}, false},
		{"over, and on", [][]byte{block, block[:1], block[:1]}, false},
		{"over at once", [][]byte{append(block[:Most:Most], 'x')}, false},
	} {
		var f File
		for _, p := range tt.parts {
			if n, err := f.Write(p); n != len(p) || err != nil {
				t.Fatalf("%s: Write: %d, %v", tt.name, n, err)
			}
			state, err := f.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			f = File{data: []byte("rest")}
			if err := f.UnmarshalBinary(state); err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
		}
		data, ok := f.Bytes()
		if ok != tt.ok || ok && !bytes.Equal(data, bytes.Join(tt.parts, nil)) {
			t.Errorf("%s: %d bytes, %v", tt.name, len(data), ok)
		}
	}
	for _, state := range []string{"", "x", "bb", "kept"[1:]} {
		if err := new(File).UnmarshalBinary([]byte(state)); err == nil {
			t.Errorf("%q is a state", state)
		}
	}
	if err := new(File).UnmarshalBinary(append([]byte{kept, 0}, block...)); err == nil {
		t.Error("a state that is too large")
	}
}
