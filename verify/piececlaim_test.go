package verify

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

// A file is proven by pieces if each holds, however it is read; it is then no more than that (rules 31 and 64).
func TestByPieces_Rule31_Rule64(t *testing.T) {
	body := bytes.Repeat([]byte("some bytes "), 100)
	for _, length := range []int{1, 7, 100, 1100, 5000} {
		p, err := NewPieces(int64(len(body)), int64(length), digestsOf(t, SHA1, body, length))
		if err != nil {
			t.Fatal(err)
		}
		claim := PieceClaim{Pieces: p, Field: "x.torrent", Channel: HTTP}
		for _, r := range []io.Reader{bytes.NewReader(body), iotest.OneByteReader(bytes.NewReader(body)),
			iotest.HalfReader(bytes.NewReader(body))} {
			c := NewChecker(-1, nil)
			c.ByPieces(claim)
			io.Copy(c, r)
			proof, err := c.Proof()
			if err != nil || !proof.ByPieces() || proof.Verified() || proof.Signed() || proof.Pieces() != claim ||
				proof.String() != "bittorrent v1 piece hashes from x.torrent over http" {
				t.Errorf("pieces of %d: %v, %v", length, proof, err)
			}
		}
		for at := range body {
			wrong := bytes.Clone(body)
			wrong[at] ^= 1
			c := NewChecker(int64(len(body)), nil)
			c.ByPieces(claim)
			c.Write(wrong)
			proof, err := c.Proof()
			if e, ok := errors.AsType[*PieceError](err); !ok || e.Piece != at/length || proof.Valid() {
				t.Fatalf("pieces of %d, byte %d: %v, %v", length, at, proof, err)
			}
		}
	}
}

func TestByPiecesOfAnotherSize(t *testing.T) {
	body := []byte("0123456789")
	p, err := NewPieces(10, 4, digestsOf(t, SHA1, body, 4))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{body[:8], body[:9], append(body, 'x'), nil} {
		c := NewChecker(-1, nil)
		c.ByPieces(PieceClaim{Pieces: p})
		c.Write(b)
		_, err := c.Proof()
		if _, ok := errors.AsType[*SizeError](err); !ok {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	}
}

// A strong digest says more, and is what the result names.
func TestDigestBeforePieces_Rule64(t *testing.T) {
	body := []byte("0123456789")
	p, err := NewPieces(10, 4, digestsOf(t, SHA1, body, 4))
	if err != nil {
		t.Fatal(err)
	}
	for alg, want := range map[Algorithm]string{
		SHA256: "sha-256 from --sha256", MD5: "bittorrent v1 piece hashes from x.torrent; md5 from --sha256 also matches",
	} {
		d := digestsOf(t, alg, body, 10)[0]
		c := NewChecker(10, []Claim{{Digest: d, Field: "--sha256", Channel: User}})
		c.ByPieces(PieceClaim{Pieces: p, Field: "x.torrent", Channel: User})
		c.Write(body)
		if proof, err := c.Proof(); err != nil || proof.String() != want || proof.Verified() != (alg == SHA256) {
			t.Errorf("%v: %v, %v", alg, proof, err)
		}
	}
	if (Proof{}).Pieces() != (PieceClaim{}) || Unchecked(1).ByPieces() {
		t.Error("pieces that nobody claimed")
	}
}
