package verify

import (
	"bytes"
	"crypto/sha512"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
)

func TestAlgorithms(t *testing.T) {
	tests := []struct {
		names  string
		alg    Algorithm
		text   string
		size   int
		strong bool
		sum    string // of content
	}{
		{"md5 MD5 Md5", MD5, "md5", 16, false, md5Hex},
		{"sha SHA sha1 SHA-1", SHA1, "sha-1", 20, false, sha1Hex},
		{"sha256 SHA-256 Sha-256", SHA256, "sha-256", 32, true, sha256Hex},
		{"sha512 SHA-512 sHA512", SHA512, "sha-512", 64, true, sha512Hex},
		{"sha-384 unixsum id-sha-256 crc32c", 0, "no algorithm", 0, false, ""},
	}
	for _, tt := range tests {
		for name := range strings.FieldsSeq(tt.names) {
			if a, ok := ParseAlgorithm(name); a != tt.alg || ok != (tt.alg != 0) {
				t.Errorf("%s: got %v, %v", name, a, ok)
			}
		}
		a := tt.alg
		if a.String() != tt.text || a.Size() != tt.size || a.Strong() != tt.strong {
			t.Errorf("got %v, %d bytes, strong %v; want %+v", a, a.Size(), a.Strong(), tt)
		}
		if tt.sum == "" {
			continue
		}
		h := a.New()
		h.Write([]byte(content))
		if got := hex.EncodeToString(h.Sum(nil)); got != tt.sum {
			t.Errorf("%v of %q: got %s, want %s", a, content, got, tt.sum)
		}
	}
	if Algorithm(200).Strong() {
		t.Error("an algorithm that does not exist is strong")
	}
	if got := Algorithms(); !slices.Equal(got, []Algorithm{MD5, SHA1, SHA256, SHA512}) {
		t.Errorf("the algorithms are %v", got)
	}
}

func TestWant(t *testing.T) {
	if digest, repr := Want(); digest != "SHA-256;q=1, SHA-512;q=0.8" || repr != "sha-256=10, sha-512=8" {
		t.Errorf("asked for are %q and %q", digest, repr)
	}
}

func TestDigest(t *testing.T) {
	sum := sha512.Sum512([]byte(content))
	d, err := NewDigest(SHA512, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	if d != mustHex(t, SHA512, strings.ToUpper(sha512Hex)) {
		t.Error("the same digest differs")
	}
	if d.Hex() != sha512Hex || d.Base64() != b64(sha512Hex) || d.String() != "sha-512="+sha512Hex {
		t.Errorf("got %s, %s, %s", d.Hex(), d.Base64(), d)
	}
	d.Bytes()[0]++
	if !bytes.Equal(d.Bytes(), sum[:]) {
		t.Error("a digest was changed from outside")
	}
	if none := (Digest{}); !none.IsZero() || d.IsZero() || none.String() != "no digest" {
		t.Error("the zero value is not the only zero value")
	}
}

func TestDigestOfWrongLength(t *testing.T) {
	for _, n := range []int{0, 16, 31, 33, 64} {
		if d, err := NewDigest(SHA256, make([]byte, n)); err == nil || !d.IsZero() {
			t.Errorf("%d bytes: got %v, %v", n, d, err)
		}
	}
	if d, err := NewDigest(0, nil); err == nil || !d.IsZero() {
		t.Errorf("no algorithm: got %v, %v", d, err)
	}
	for _, s := range []string{"", sha256Hex[2:], sha256Hex + "00", strings.Repeat("xy", 32), sha256Hex[1:]} {
		if d, err := ParseHex(SHA256, s); err == nil || !d.IsZero() {
			t.Errorf("%q: got %v, %v", s, d, err)
		}
	}
	if d, err := ParseHex(0, ""); err == nil || !d.IsZero() {
		t.Errorf("no algorithm: got %v, %v", d, err)
	}
}
