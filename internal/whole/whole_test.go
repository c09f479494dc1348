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

// A keeper is a checker that keeps a file in memory.
type keeper struct{ file *File }

func (k keeper) Whole() any { return k.file }

// TestShare: all checkers that keep the file read the bytes of the first.
func TestShare(t *testing.T) {
	a, b, none := keeper{new(File)}, keeper{new(File)}, keeper{}
	var first *File
	for _, c := range []any{"other", none, a, none, "other", b} {
		first = Share(c, first)
	}
	if first != a.file {
		t.Fatal("the first file is another one")
	}
	for _, k := range []keeper{a, b} {
		k.file.Write([]byte("abc"))
		if data, ok := k.file.Bytes(); !ok || string(data) != "abc" {
			t.Errorf("%q, %v", data, ok)
		}
	}
	state, err := b.file.MarshalBinary()
	if err != nil || len(state) != 1 || b.file.UnmarshalBinary(state) != nil || new(File).UnmarshalBinary(state) == nil {
		t.Errorf("state %q, %v", state, err)
	}
}
