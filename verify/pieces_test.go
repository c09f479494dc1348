package verify

import (
	"bytes"
	"crypto/sha1"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// digestsOf cuts body into pieces and hashes each, as whoever publishes them does.
func digestsOf(t testing.TB, a Algorithm, body []byte, length int) (digests []Digest) {
	t.Helper()
	for piece := range slices.Chunk(body, length) {
		h := a.New()
		h.Write(piece)
		d, err := NewDigest(a, h.Sum(nil))
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, d)
	}
	return digests
}

func TestPieces(t *testing.T) {
	body := make([]byte, 1000)
	for i := range body {
		body[i] = byte(rand.IntN(256))
	}
	for _, length := range []int{1, 7, 100, 300, 999, 1000, 1001, math.MaxInt} {
		digests := digestsOf(t, SHA1, body, min(length, len(body)))
		p, err := NewPieces(1000, int64(length), digests)
		if err != nil {
			t.Fatalf("length %d: %v", length, err)
		}
		if p.Count() != len(digests) || p.Length() != int64(length) || p.Size() != 1000 || p.Algorithm() != SHA1 || p.IsZero() {
			t.Fatalf("length %d: got %+v", length, p)
		}
		at := int64(0)
		for i := range p.Count() {
			start, end := p.At(i)
			if start != at || end <= start || end-start > int64(length) {
				t.Fatalf("length %d: piece %d is %d to %d, want it from %d", length, i, start, end, at)
			}
			piece := body[start:end]
			if at = end; p.Digest(i) != digests[i] || !p.Check(i, piece) {
				t.Fatalf("length %d: piece %d is wrong", length, i)
			}
			wrong := slices.Clone(piece)
			wrong[len(wrong)/2] ^= 1
			if p.Check(i, wrong) || p.Check(i, piece[1:]) || p.Check(i, append(slices.Clone(piece), 0)) || p.Check(i, nil) {
				t.Fatalf("length %d: wrong bytes pass as piece %d", length, i)
			}
		}
		if at != 1000 {
			t.Fatalf("length %d: the pieces end at %d", length, at)
		}
	}
}

func TestPieceCheckerAsItGoes(t *testing.T) {
	p, err := NewPieces(6, 4, digestsOf(t, SHA256, []byte(content), 4))
	if err != nil {
		t.Fatal(err)
	}
	c := p.Checker(1) // its two bytes come one by one, and then a third
	for i, want := range []bool{false, true, false} {
		c.Write([]byte((content + "!")[4+i : 5+i]))
		if c.Right() != want {
			t.Errorf("after %d bytes: right %v, want %v", i+1, c.Right(), want)
		}
	}
	// A byte too many is not taken back by the right digest of what came before.
	c = p.Checker(0)
	c.Write([]byte(content[:4]))
	c.Write([]byte("!"))
	if c.Right() {
		t.Error("a piece with a byte too many")
	}
}

func TestNoSuchPiece(t *testing.T) {
	p, err := NewPieces(6, 4, digestsOf(t, MD5, []byte(content), 4))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Pieces{p, {}} {
		for _, i := range []int{-1, 2, math.MaxInt, math.MinInt} {
			start, end := p.At(i)
			if start != 0 || end != 0 || !p.Digest(i).IsZero() || p.Check(i, nil) || p.Check(i, []byte(content)) {
				t.Errorf("piece %d of %v", i, p)
			}
		}
	}
	if none := (Pieces{}); !none.IsZero() || none.Count() != 0 || p.IsZero() {
		t.Error("the zero value is not the only one without pieces")
	}
}

// Proves rule 42's part of this package: lists that do not fit the file are not taken.
func TestPiecesThatDoNotFit_Rule42(t *testing.T) {
	digests := digestsOf(t, SHA1, []byte(content), 2)
	mixed := append(slices.Clone(digests[:2]), mustHex(t, MD5, md5Hex))
	for name, tt := range map[string]struct {
		size, length int64
		digests      []Digest
		want         string
	}{
		"length 0":        {6, 0, digests, "the piece length must be positive, not 0"},
		"negative length": {6, -2, digests, "the piece length must be positive, not -2"},
		"no size":         {-1, 2, digests, "the size of the file must be positive, not -1"},
		"empty file":      {0, 2, digests[:1], "the size of the file must be positive, not 0"},
		"empty, no piece": {0, 2, nil, "the size of the file must be positive, not 0"},
		"too few":         {6, 2, digests[:2], "2 digests, want 3 for a file of 6 bytes in pieces of 2"},
		"too many":        {4, 2, digests, "3 digests, want 2 for a file of 4 bytes in pieces of 2"},
		"none":            {6, 2, nil, "0 digests, want 3"},
		"largest file":    {math.MaxInt64, 1, digests, "3 digests, want 9223372036854775807"},
		"two algorithms":  {6, 2, mixed, "digest 2 is md5, but the first is sha-1"},
		"no digest":       {6, 2, make([]Digest, 3), "digest 0 is no algorithm"},
	} {
		p, err := NewPieces(tt.size, tt.length, tt.digests)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || !p.IsZero() {
			t.Errorf("%s: got %v, %v; want %s", name, p, err, tt.want)
		}
	}
	last, err := NewPieces(math.MaxInt64, math.MaxInt64-1, digests[:2])
	if err != nil {
		t.Fatal(err)
	}
	if start, end := last.At(1); start != math.MaxInt64-1 || end != math.MaxInt64 {
		t.Errorf("the last piece of the largest file is %d to %d", start, end)
	}
}

// FuzzPieces compares with the standard library's SHA-1 of each part, whatever the sizes and the damage.
func FuzzPieces(f *testing.F) {
	f.Add([]byte(content), uint16(4), uint16(5), uint8(1))
	f.Add([]byte(content), uint16(1), uint16(0), uint8(0))
	f.Fuzz(func(t *testing.T, body []byte, length, at uint16, flip uint8) {
		if length == 0 || len(body) == 0 {
			return
		}
		p, err := NewPieces(int64(len(body)), int64(length), digestsOf(t, SHA1, body, int(length)))
		if err != nil {
			t.Fatal(err)
		}
		damaged := slices.Clone(body)
		damaged[int(at)%len(body)] ^= flip
		for i := range p.Count() {
			start, end := p.At(i)
			sum, have := sha1.Sum(body[start:end]), sha1.Sum(damaged[start:end])
			if p.Check(i, damaged[start:end]) != (sum == have) {
				t.Fatalf("piece %d of %d", i, p.Count())
			}
		}
	})
}

// The last piece of a file in a torrent may be filled up with zeros (BEP 47).
func TestPadded(t *testing.T) {
	body := []byte("eleven byte")
	filled := append(bytes.Clone(body), make([]byte, 9000)...)
	const length = 9004
	whole, err := NewPieces(9008, length, digestsOf(t, SHA1, filled[:9008], length))
	if err != nil {
		t.Fatal(err)
	}
	own, err := NewPieces(11, length, []Digest{whole.Digest(0)})
	if err != nil {
		t.Fatal(err)
	}
	p, err := own.Padded(length - 11)
	if err != nil || !p.Check(0, body) || own.Check(0, body) || p.Check(0, body[:10]) || p.Check(0, append(body, 0)) {
		t.Errorf("padded: %v", err)
	}
	for _, zeros := range []int64{-1, length - 10} {
		if _, err := own.Padded(zeros); err == nil {
			t.Errorf("%d zeros", zeros)
		}
	}
	if _, err := (Pieces{}).Padded(0); err == nil {
		t.Error("no pieces, and zeros")
	}
}
