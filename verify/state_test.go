package verify

import (
	"bytes"
	"testing"
)

// A Checker that goes on in another process decides as one that read all of the file, wherever it was cut.
func TestCheckerState(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte("The quick brown fox jumps over the lazy dog. "), 100)
	var claims []Claim
	for a := MD5; a <= SHA512; a++ {
		h := a.New()
		h.Write(data)
		d, err := NewDigest(a, h.Sum(nil))
		if err != nil {
			t.Fatal(err)
		}
		claims = append(claims, Claim{Digest: d, Field: "test", Channel: User})
	}
	pieces, err := NewPieces(int64(len(data)), 1000, digestsOf(t, SHA1, data, 1000))
	if err != nil {
		t.Fatal(err)
	}
	fresh := func() *Checker {
		c := NewChecker(int64(len(data)), claims)
		c.ByPieces(PieceClaim{Pieces: pieces, Field: "test", Channel: User})
		return c
	}
	for _, cut := range []int{0, 1, 63, 64, 999, 1000, 1001, 2000, 4499, 4500} {
		before, after := fresh(), fresh()
		before.Write(data[:cut])
		state, err := before.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := after.UnmarshalBinary(state); err != nil {
			t.Fatalf("after %d bytes: %v", cut, err)
		}
		wrong := fresh()
		if err := wrong.UnmarshalBinary(state); err != nil {
			t.Fatal(err)
		}
		after.Write(data[cut:])
		if _, err := after.Proof(); err != nil {
			t.Errorf("cut after %d bytes: %v", cut, err)
		}
		if cut == len(data) {
			continue
		}
		wrong.Write(data[cut : len(data)-1])
		wrong.Write([]byte("!"))
		if _, err := wrong.Proof(); err == nil {
			t.Errorf("cut after %d bytes: wrong bytes have a proof", cut)
		}
	}
}

// A state of other digests, pieces or garbage is refused.
func TestCheckerStateRefused_Rule72(t *testing.T) {
	t.Parallel()
	c := NewChecker(-1, nil)
	c.Write([]byte("abc"))
	state, err := c.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	sum, err := NewDigest(SHA512, make([]byte, 64))
	if err != nil {
		t.Fatal(err)
	}
	for name, next := range map[string]*Checker{
		"another digest": NewChecker(-1, []Claim{{Digest: sum}}), "a shorter file": NewChecker(2, nil),
		"a signature": NewChecker(-1, nil, unresumable{}),
	} {
		if next.UnmarshalBinary(state) == nil {
			t.Errorf("%s: taken", name)
		}
	}
	list, err := NewPieces(10, 4, digestsOf(t, SHA1, make([]byte, 10), 4))
	if err != nil {
		t.Fatal(err)
	}
	pieces := NewChecker(-1, nil)
	pieces.ByPieces(PieceClaim{Pieces: list})
	for _, bad := range [][]byte{nil, {}, []byte("{}"), []byte("null"),
		[]byte(`{"written":1,"hashes":{"sha-256":"AAAA"}}`), state[:len(state)-1]} {
		if NewChecker(-1, nil).UnmarshalBinary(bad) == nil || pieces.UnmarshalBinary(state) == nil {
			t.Errorf("%q: taken", bad)
		}
	}
	if _, err := NewChecker(-1, nil, unresumable{}).MarshalBinary(); err == nil {
		t.Error("a checker without a state has one")
	}
}

type unresumable struct{}

func (unresumable) Write(p []byte) (int, error)            { return len(p), nil }
func (unresumable) Signatures() ([]SignatureResult, error) { return nil, nil }

// TestCompute: a digest that no claim has is computed from the start, also by a Checker that goes on in another process,
// and can be compared at the end.
func TestCompute_Rule72(t *testing.T) {
	t.Parallel()
	h := SHA512.New()
	h.Write([]byte("abcdef"))
	right, err := NewDigest(SHA512, h.Sum(nil))
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := NewDigest(SHA512, make([]byte, 64))
	if err != nil {
		t.Fatal(err)
	}
	before := NewChecker(-1, nil)
	before.Compute(SHA512)
	before.Write([]byte("abc"))
	state, err := before.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for d, good := range map[Digest]bool{right: true, wrong: false} {
		c := NewChecker(-1, nil)
		if err := c.UnmarshalBinary(state); err != nil || !c.Computes(SHA512) || c.Computes(MD5) {
			t.Fatal(err)
		}
		c.Write([]byte("def"))
		for range 2 { // the same claim counts once
			c.Claim([]Claim{{Digest: d, Field: "list", Channel: HTTP}})
		}
		if p, err := c.Proof(); (err == nil) != good || good && len(p.Evidence()) != 1 {
			t.Errorf("%v, %v", p, err)
		}
	}
}
