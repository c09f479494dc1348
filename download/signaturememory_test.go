package download

import (
	"bytes"
	"encoding/base64"
	"runtime"
	"testing"

	"braid/verify"
	"braid/verify/signify"
)

// A file is kept in memory once for all its signatures that cover the file itself, also in their state (rule 20).
func TestSignatureMemory_Rule20(t *testing.T) {
	packed := func(n int) []byte {
		body := append([]byte("Ed12345678"), make([]byte, n)...)
		return []byte("untrusted comment: x\n" + base64.StdEncoding.EncodeToString(body) + "\n")
	}
	trust, err := signify.Kind.NewTrust(verify.Keys{Files: []verify.KeyFile{{Name: "key.pub", Data: packed(32)}}})
	if err != nil {
		t.Fatal(err)
	}
	all := make([]found, mostSignatures)
	for i := range all {
		all[i] = found{from: "x", data: packed(64)}
	}
	const size = 16 << 20
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	set := newSignatureSet(all, Anchors{trust}, nil)
	for range size >> 16 {
		set.Write(bytes.Repeat([]byte("a"), 1<<16))
	}
	if after := heap(); len(set.checkers) != len(all) || after > before+2*size {
		t.Errorf("%d checkers, %d bytes for a file of %d", len(set.checkers), after-before, size)
	}
	state, err := set.MarshalBinary()
	if err != nil || len(state) > 2*size {
		t.Fatalf("state: %d bytes, %v", len(state), err)
	}
	again := newSignatureSet(all, Anchors{trust}, nil)
	if err := again.UnmarshalBinary(state); err != nil {
		t.Fatal(err)
	}
	if second, err := again.MarshalBinary(); err != nil || !bytes.Equal(state, second) {
		t.Errorf("the state of a state is another one: %v", err)
	}
	runtime.KeepAlive(set)
}
