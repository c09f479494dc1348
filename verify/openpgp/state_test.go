package openpgp

import (
	"io"
	"testing"
)

// A check goes on from its state in another Checker of the same signatures, wherever the file was cut, and in no other.
func TestCheckerState(t *testing.T) {
	t.Parallel()
	ann := newEntity(t, at(born))
	keys := keyringOf(t, ann)
	sigs := draft{}.by(t, ann.PrivateKey, signed)
	sigs = append(sigs, draft{hash: 14}.by(t, ann.PrivateKey, signed)...)
	fresh := func(sigs []byte) *Checker {
		c, err := New(sigs, keys, Policy{Now: present})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for cut := range len(signed) + 1 {
		before, after, wrong := fresh(sigs), fresh(sigs), fresh(sigs)
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
		if all, err := after.Signatures(); err != nil || len(all) != 2 {
			t.Errorf("cut after %d bytes: %v, %v", cut, all, err)
		}
		io.WriteString(wrong, signed[cut:]+"!")
		if _, err := wrong.Signatures(); err == nil {
			t.Errorf("cut after %d bytes: another file is signed", cut)
		}
		for _, other := range [][]byte{draft{}.by(t, ann.PrivateKey, signed), draft{hash: 10}.by(t, ann.PrivateKey, signed)} {
			if fresh(other).UnmarshalBinary(state) == nil {
				t.Error("the state of other signatures is taken")
			}
		}
	}
}
