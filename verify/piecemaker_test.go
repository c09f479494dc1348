package verify_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"braid/verify"
)

// What is made in one pass is what NewPieces takes from digests of each part, however the bytes come.
func TestPieceMaker(t *testing.T) {
	const length = 10
	chance := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{1, 9, 10, 11, 20, 25, 100} {
		body := bytes.Repeat([]byte("braid, x"), 20)[:size]
		var digests []verify.Digest
		for at := 0; at < size; at += length {
			digests = append(digests, digestOf(t, verify.SHA256, body[at:min(at+length, size)]))
		}
		want, err := verify.NewPieces(int64(size), length, digests)
		if err != nil {
			t.Fatal(err)
		}
		m := verify.NewPieceMaker(verify.SHA256, length)
		for rest := body; len(rest) > 0; {
			n := 1 + chance.IntN(len(rest))
			if wrote, err := m.Write(rest[:n]); wrote != n || err != nil {
				t.Errorf("wrote %d of %d, %v", wrote, n, err)
			}
			rest = rest[n:]
		}
		if got := m.Pieces(); got != want || m.Pieces() != want {
			t.Errorf("%d bytes: %d pieces of %d, want %d", size, got.Count(), got.Length(), want.Count())
		}
	}
	if p := verify.NewPieceMaker(verify.SHA1, 1).Pieces(); !p.IsZero() {
		t.Errorf("an empty file has %d pieces", p.Count())
	}
}

func digestOf(t *testing.T, a verify.Algorithm, b []byte) verify.Digest {
	t.Helper()
	h := a.New()
	h.Write(b)
	d, err := verify.NewDigest(a, h.Sum(nil))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestPieceMakerOfNothing(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("pieces of no length")
		}
	}()
	verify.NewPieceMaker(verify.SHA256, 0)
}

func TestPieceLength(t *testing.T) {
	const least = 256 << 10
	for size, want := range map[int64]int64{
		0: least, 1: least, least + 1: least, 2000 * least: least, 2000*least + 1: 2 * least,
		1 << 30: 1 << 20, 1 << 40: 1 << 30, 1<<63 - 1: 1 << 53,
	} {
		got := verify.PieceLength(size)
		if got != want {
			t.Errorf("%d bytes: pieces of %d, want %d", size, got, want)
		}
	}
}
