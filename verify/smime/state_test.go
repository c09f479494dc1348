package smime

import (
	"crypto/x509"
	"io"
	"testing"
)

// A check goes on from its state in another Checker of the same message, wherever the file was cut.
func TestCheckerState(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	der := w.message(w.signer("ecdsa")).der()
	fresh := func() *Checker {
		c, err := New(der, []*x509.Certificate{w.root.cert}, w.now)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for cut := range len(signed) + 1 {
		before, after, wrong := fresh(), fresh(), fresh()
		io.WriteString(before, signed[:cut])
		state, err := before.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := after.UnmarshalBinary(state); err != nil {
			t.Fatal(err)
		}
		if err := wrong.UnmarshalBinary(state); err != nil {
			t.Fatal(err)
		}
		io.WriteString(after, signed[cut:])
		if _, err := after.Signatures(); err != nil {
			t.Errorf("cut after %d bytes: %v", cut, err)
		}
		io.WriteString(wrong, signed[cut:]+"!")
		if _, err := wrong.Signatures(); err == nil {
			t.Errorf("cut after %d bytes: another file is signed", cut)
		}
	}
	if fresh().UnmarshalBinary([]byte(`{"hashes":{}}`)) == nil {
		t.Error("the state of another message is taken")
	}
}
